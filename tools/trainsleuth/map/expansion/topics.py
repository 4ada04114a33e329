"""What is asked of every run, and by which words the settings and places of the code are found that answer it."""

from __future__ import annotations

import re
from typing import NamedTuple


class Topic(NamedTuple):
    """`words` and `weak` match the last name of a key as a whole, `sections` a name above it.

    `weak` words mean the topic only where no section says another: beta is the optimizer's, not in ema_params.
    `places` are parts or features with roles, "" for any; `built` is the component of what a recipe builds for it.
    `is_switch`: a setting that is empty says that the thing is off.
    """

    name: str
    words: str
    weak: str = "^$"
    sections: str = "^$"
    places: tuple[tuple[str, str], ...] = ()
    built: str = ""

    @property
    def is_switch(self) -> bool:
        return self.name in (
            "clipping",
            "averaged weights",
            "saved",
            "resumed",
            "evaluated",
            "precision",
            "accumulation",
        )


TOPICS = (
    Topic(
        "optimizer",
        words=(
            r"(?:base_|max_|peak_|initial_|init_)?(?:lr|learning_rate)|optim\w*|opt|opt_\w*|"
            r"(?:adam_|optim\w*_)?beta[12s]|\w*weight_decay\w*|nesterov|adam_eps\w*"
        ),
        weak=r"betas?|momentum|eps|epsilon|wd",
        sections=r"(?!.*(?:sched|warm))(?:optim\w*|opt|opt_\w*)",
        places=(("optimizer_scheduler", "optimizer"), ("optimizer_scheduler", "builder call")),
        built="optimizer_scheduler",
    ),
    Topic(
        "schedule",
        words=(
            r"(?!noise_)\w*sched\w*|\w*warm_?up\w*|(?:final_|end_|min_|cosine_)?lr_\w+|(?:min|end|final)_lr|"
            r"\w*final_lr\w*|milestones|t_max|pct_start|div_factor|final_div_factor|start_factor|end_factor"
        ),
        weak=r"gamma|power|\w*anneal\w*|decay_\w+|step_size",
        sections=r"(?!noise_)\w*sched\w*|lr_config|\w*warm_?up\w*",
        places=(
            ("optimizer_scheduler", "scheduler step"),
            ("optimizer_scheduler", "scheduler"),
            ("optimizer_scheduler", "learning rate"),
        ),
        built="optimizer_scheduler",
    ),
    Topic(
        "length",
        words=(
            r"(?:num_|n_|max_|total_|number_of_|num_train_)?(?:train_|training_)?(?:epochs|epoches|max_steps|updates|iters|iterations)|"
            r"(?:max_)?(?:max|total|num|numb|n)_(?:train_|training_)?(?:epochs?|steps?|updates?|iters?|iterations?)|niter|"
            r"duration|end_epoch"
        ),
        weak=r"(?:train_)?(?:steps|epoch|iters)",
        places=(("training_loop", "loop"),),
    ),
    Topic(
        "batch",
        words=(
            r"\w*max_tokens|batch_type|samples_per_gpu|(?!.*(?:val|test|eval|micro))\w*batch_size\w*|"
            r"(?!.*(?:val|test|eval))\w*mini_batch\w*"
        ),
        weak=r"\w*workers\w*|shuffle\w*|drop_last|\w*sampler\w*|seq_len\w*|block_size|sort\w*",
        sections=r"(?!.*(?:val|test|eval|sample))\w*(?:loader|dataset_conf)\w*",
        places=(("data", "built"), ("data", "batch")),
    ),
    Topic(
        "augmentation",
        words=(
            r"\w*augment\w*|\w*mixup\w*|\w*cutmix\w*|\w*crop\w*|\w*flip\w*|\w*jitter\w*|speed_perturb|"
            r"spec_aug\w*|\w*caption_dropout\w*|\w*erasing\w*|\w*erase\w*"
        ),
        weak=r"resolution|image_size|img_size|input_size|\w*resize\w*",
        sections=r"(?!.*(?:val|test|eval))(?:\w*transforms?|\w*pipeline|\w*aug\w*|ops)",
    ),
    Topic(
        "accumulation",
        words=r"\w*accum\w*|update_freq\w*|iter_size|\w*micro_batch\w*",
        places=(("accumulation", ""),),
    ),
    Topic(
        "clipping",
        words=r"\w*grad\w*_clip\w*|(?:\w+_)?clip(?:_?(?:grad|norm|max)\w*)?|(?:grad\w*_)?max_(?:grad_)?norm|clip_val\w*",
        sections=r"clip_grad\w*|grad\w*_clip\w*",
        places=(("clipping", ""), ("training_loop", "clip")),
    ),
    Topic(
        "precision",
        words=r"\w*amp|\w*fp16|\w*bf16|\w*precision|autocast|\w*loss_scale|\w*tf32|\w*quantize|qtype",
        weak=r"\w*dtype|half",
        places=(("mixed_precision", ""), ("training_loop", "scaler update")),
    ),
    Topic(
        "loss",
        words=(
            r"\w*loss\w*|criterion\w*|\w*smoothing|\w*_coeff?|weight_dict|losses|"
            r"(?!pretrain|load|init|save|sync|train)\w+_weights?"
        ),
        weak=r"reduction|weights?|lambda\w*|gamma|alpha",
        sections=r"\w*loss\w*|\w*criterion\w*|\w*Criterion\w*|weight_dict",
        places=(("loss", "sum"), ("loss", "loss"), ("loss", "formula")),
        built="loss",
    ),
    Topic(
        "agent",
        words=(
            r"discount\w*|gae_lambda|polyak|target_\w*(?:freq|interval|theta|update)|\w*buffer_size|n_sample|"
            r"update_per_collect|utd\w*|rollout\w*|(?:num_|n_)envs?|\w*env_num|entropy_\w+|"
            r"clip_(?:range|ratio|param)|stop_value|adv_estimator|\w*kl_\w+"
        ),
        weak=r"n_?step|tau|eps_(?:start|end|decay)|epsilon\w*|start|end|decay",
        sections=r"eps",
    ),
    Topic(
        "model",
        words=(
            r"arch|architecture|model(?:_?name|_type)?|backbone|encoder|decoder|neck|(?:cls_|bbox_)?head|"
            r"policy_net|generator|discriminator|freeze\w*|pretrained\w*|\w*name_or_path|bert_model_name|"
            r"train_(?:unet|text_encoder)|linear_alpha"
        ),
        weak=(
            r"(?:num|n)_\w*(?:layers?|blocks|heads?|queries)|depth|hidden(?:_size|_dim)|\w*dropout\w*|"
            r"drop_path\w*|d_model|embed_dim|linear|rank|output_size|attention_heads|attention_dim"
        ),
        sections=r"\w*(?:model|backbone|encoder|decoder|neck|head|arch)\w*|network|lora\w*",
        places=(("model", "built"), ("model", "class")),
        built="model",
    ),
    Topic(
        "seed",
        words=r"\w*seed|deterministic|cudnn_\w+|benchmark",
        sections=r"randomness",
        places=(("seeds", ""),),
    ),
    Topic(
        "devices",
        words=(
            r"world_size|n?gpus\w*|\w*num_gpus|nnodes|\w*nproc\w*|multi_gpu|sync_bn|find_unused_parameters|"
            r"n_gpus\w*"
        ),
        weak=r"devices?|strategy|accelerator|backend",
        places=(("distribution", ""),),
    ),
    Topic(
        "averaged weights",
        words=(
            r"\w*ema(?:_\w+)?|swa(?!n)\w*|(?:average|avg)_(?:model|mode|num|check|ckpt|weight|param|last|best)\w*|"
            r"\w*nbest\w*"
        ),
        sections=r"\w*ema(?:_\w+)?|swa(?!n)\w*",
        places=(("training_loop", "averaged weights"), ("ema", "")),
    ),
    Topic(
        "saved",
        words=(
            r"(?!log)\w*save_(?!dtype)\w*|\w*ckpt\w*|(?!gradient|activation)\w*checkpoint\w*|"
            r"keep_(?:last|best|n|num|nbest|top|check|ckpt|max|all|every|latest|recent|model)\w*|\w*_to_keep|"
            r"max_keep\w*|output_dir|out_dir|work_dir|exp_dir|max_\w*saves?\w*"
        ),
        weak=r"interval|name",
        sections=r"save\w*|(?!load)\w*checkpoint\w*",
        places=(("checkpointing", "save"), ("checkpointing", "save defined")),
    ),
    Topic(
        "resumed",
        words=(
            r"\w*resume\w*|load_(?:from|state|check|ckpt|opt|backbone|model|path|dir|name|strict|iter|epoch)\w*|"
            r"restore\w*|init_from|finetune\w*|init_checkpoint|start_epoch|recover\w*"
        ),
        sections=r"load\w*",
        places=(("resume", ""), ("checkpointing", "load"), ("checkpointing", "restore")),
    ),
    Topic(
        "evaluated",
        words=(
            r"\w*eval\w*|val(?:id)?_\w+|valid|test_\w+|\w*metrics?\w*|\w*_best\w*|monitor\w*|\w*early\w*|"
            r"patience|beam\w*|(?:run|full)_validation\w*|sample_every"
        ),
        sections=r"(?:val|valid|test|eval|validation|evaluation)(?:_\w+)?|\w*(?:metric|evaluator)\w*|sample",
        places=(("evaluation", "evaluation call"), ("evaluation", "loop"), ("evaluation", "definition")),
        built="evaluation",
    ),
    Topic(
        "logged",
        words=(
            r"log|logg\w*|log_(?!softmax)\w+|\w*log_(?:every|interval|freq|dir|step\w*)|print\w*|\w*wandb\w*|"
            r"\w*tensorboard\w*|report_to|\w*tracker\w*|logger"
        ),
        weak=r"interval|level",
        sections=r"(?:\w+_)?logg?\w*|wandb|tensorboard",
        places=(("logging", "tracked"), ("logging", "writer"), ("logging", "progress")),
        built="logging",
    ),
)
TAGS = ("type", "name", "_target_", "class_path", "!new", "!name")


def topic_of(name: str) -> str:
    """By a section for evaluation or averaging, by its last word, by the nearest section that tells, by a weak last word."""
    *above, last = [part for part in name.split(".") if not part.isdigit()] or [name]
    tag = last if above and last in TAGS else ""
    if tag:
        *above, last = above
    for topic, sections in _FIRST:
        if any(sections.fullmatch(part) for part in above):
            return topic
    if found := _matching(last, 0) or (_matching(last, 2) if tag else ""):
        return found
    for part in reversed(above):
        if found := _matching(part, 2) or _matching(part, 0):
            return found
    return _matching(last, 1)


def _matching(word: str, which: int) -> str:
    return next((name for name, patterns in _PATTERNS if patterns[which].fullmatch(word)), "")


_PATTERNS = [
    (one.name, tuple(re.compile(words, re.I) for words in (one.words, one.weak, one.sections))) for one in TOPICS
]


_FIRST = (
    ("evaluated", re.compile(r"(?:val|valid|test|eval|validation|evaluation|infer\w*)(?:_(?!freq|interval)\w+)?|sample|export\w*", re.I)),
    ("averaged weights", re.compile(r"\w*ema(?:_\w+)?|swa(?!n)\w*", re.I)),
)  # fmt: skip


def is_named(topic: Topic, name: str) -> float:
    """1 when the key says by its own last word, or by the tag of its section, what it is about; weak words 0.2."""
    *above, last = [part for part in name.split(".") if not part.isdigit()] or [name]
    word = above[-1] if above and last in TAGS else last
    if re.fullmatch(topic.words, word, re.I):
        return 1.0
    return 0.2 if re.fullmatch(topic.weak, word, re.I) else 0.0
