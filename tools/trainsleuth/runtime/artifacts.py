"""What entered the model as a person would look at it: pictures, sound, text; files in the run folder."""

import os

from . import pictures, sound, words

MOST = 6  # files of one process
_written = []


def show(bus, tensor, name):
    """[{"path", "kind", "what"}] for a batch that can be seen, heard or read; [] for others."""
    try:
        return list(_shown(bus, tensor, name)) if len(_written) < MOST else []
    except (RuntimeError, ValueError, OSError):  # looking must not stop the rest
        return []


def _shown(bus, tensor, name):
    images = pictures.images(tensor)
    clips = sound.clips(tensor)
    if images is not None:
        low, high = float(tensor.min()), float(tensor.max())
        path = _place(bus, name + ".png")
        pictures.write_grid(bus.torch, path, images)
        told = "%d of %d pictures %s, black %.4g, white %.4g" % (
            min(len(images), pictures.MOST), len(tensor), list(tensor.shape[1:]), low, high)  # fmt: skip
        yield {"path": path, "kind": "image/png", "what": told}
    elif clips is not None:
        path = _place(bus, name + ".wav")
        sound.write(path, clips)
        yield {"path": path, "kind": "audio/wav", "what": "%d clips at %d values per second" % (len(clips), sound.RATE)}
        path = _place(bus, name + "-spectrogram.png")
        pictures.write_grid(bus.torch, path, sound.spectrograms(bus.torch, clips))
        yield {"path": path, "kind": "image/png", "what": "their spectrograms, low frequencies at the bottom"}
    elif words.is_text(tensor):
        lines, by = words.read(tensor, bus.sites)
        if lines:
            yield {"path": None, "kind": "text/plain", "what": "first rows decoded by %s" % by, "lines": lines}


def _place(bus, name):
    path = os.path.join(bus.config["run_folder"], "batch-%d-%s" % (os.getpid(), name))
    _written.append(path)
    return path
