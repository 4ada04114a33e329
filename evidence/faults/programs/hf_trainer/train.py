"""transformers.Trainer with a loss, an optimizer and a collator of one's own: which of three word groups leads?"""

import torch
from data import Reviews, pad
from model import GROUPS, Classifier
from torch import nn
from transformers import Trainer, TrainingArguments, set_seed


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        logits = model(**inputs)["logits"]
        loss = nn.functional.cross_entropy(logits, labels)
        return (loss, {"logits": logits}) if return_outputs else loss


def accuracy(evaluated):
    return {"accuracy": float((evaluated.predictions.argmax(-1) == evaluated.label_ids).mean())}


def optimizers(model, steps):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=3e-3, total_steps=steps, pct_start=0.2)
    return optimizer, schedule


def main():
    set_seed(1)
    train, valid = Reviews(640, seed=0), Reviews(160, seed=1)
    model = Classifier(groups=GROUPS)
    arguments = TrainingArguments(
        output_dir="out",
        num_train_epochs=6,
        per_device_train_batch_size=16,
        per_device_eval_batch_size=80,
        max_grad_norm=1.0,
        eval_strategy="steps",
        eval_steps=20,
        save_strategy="no",
        logging_steps=20,
        disable_tqdm=True,
        remove_unused_columns=False,
        label_names=["labels"],
        report_to="none",
        use_cpu=True,
        seed=1,
    )
    trainer = WeightedTrainer(
        model=model,
        args=arguments,
        train_dataset=train,
        eval_dataset=valid,
        data_collator=pad,
        compute_metrics=accuracy,
        optimizers=optimizers(model, steps=240),
    )
    trainer.train()


if __name__ == "__main__":
    main()
