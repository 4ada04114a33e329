"""transformers.Trainer on a tiny randomly initialised GPT-2; nothing is downloaded."""

import torch
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

VOCABULARY, LENGTH = 64, 32


class Counting(Dataset):
    """Sequences that count up by one to three, modulo the vocabulary."""

    def __init__(self, count):
        rng = torch.Generator().manual_seed(0)
        start = torch.randint(VOCABULARY, (count, 1), generator=rng)
        stride = torch.randint(1, 4, (count, 1), generator=rng)
        self.tokens = (start + stride * torch.arange(LENGTH)) % VOCABULARY

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return {"input_ids": self.tokens[index], "labels": self.tokens[index]}


def main():
    config = GPT2Config(
        vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    arguments = TrainingArguments(
        output_dir="out",
        max_steps=40,
        per_device_train_batch_size=8,
        gradient_accumulation_steps=2,
        learning_rate=3e-3,
        warmup_steps=5,
        lr_scheduler_type="cosine",
        logging_steps=5,
        save_steps=20,
        eval_strategy="steps",
        eval_steps=20,
        report_to="none",
        use_cpu=True,
        seed=1,
    )
    trainer = Trainer(
        model=GPT2LMHeadModel(config), args=arguments, train_dataset=Counting(512), eval_dataset=Counting(32)
    )
    trainer.train()
    history = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    print(f"loss {history[0]:.4f} -> {history[-1]:.4f}")


if __name__ == "__main__":
    main()
