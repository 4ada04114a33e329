from .network import Tagger

__all__ = ["Tagger"]
