"""Recognise drawn shapes in small noisy pictures."""
