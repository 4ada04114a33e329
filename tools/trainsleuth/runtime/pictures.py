"""A grid of pictures as a PNG file, written with the standard library alone."""

import ctypes
import struct
import zlib

MOST = 16
COLUMNS = 4
SMALLEST, LARGEST = 6, 256  # pixels of a side; larger pictures are thinned out
MARGIN = 2


def images(tensor):
    """(N, H, W) or (N, 3, H, W) views of what looks like pictures, else None."""
    if tensor.dim() == 4 and min(tensor.shape[2:]) >= SMALLEST and tensor.shape[1] in (1, 3, 4):
        return tensor[:MOST, :3] if tensor.shape[1] > 1 else tensor[:MOST, 0]
    if tensor.dim() == 4 and min(tensor.shape[1:3]) >= SMALLEST and tensor.shape[3] in (1, 3, 4):
        return tensor[:MOST, ..., :3].permute(0, 3, 1, 2) if tensor.shape[3] > 1 else tensor[:MOST, ..., 0]
    if tensor.dim() == 3 and tensor.shape[1] == tensor.shape[2] >= SMALLEST:
        return tensor[:MOST]
    return None


def write_grid(torch, path, pictures):
    """Up to MOST pictures side by side, all on one scale from their lowest to their highest value."""
    values = pictures.detach().float().cpu()
    values = values if values.dim() == 4 else values.unsqueeze(1).expand(-1, 3, -1, -1)
    step = max(1, max(values.shape[2:]) // LARGEST)
    values = values[:, :, ::step, ::step].nan_to_num(0.0)
    low, high = values.min(), values.max()
    values = ((values - low) / (high - low).clamp(min=1e-12) * 255).to(torch.uint8)
    count, _, height, width = values.shape
    columns = min(COLUMNS, count)
    lines = -(-count // columns)
    grid = torch.full((3, lines * (height + MARGIN) + MARGIN, columns * (width + MARGIN) + MARGIN), 128).to(torch.uint8)
    for number, picture in enumerate(values):
        top = MARGIN + number // columns * (height + MARGIN)
        left = MARGIN + number % columns * (width + MARGIN)
        grid[:, top : top + height, left : left + width] = picture
    _write(path, grid.permute(1, 2, 0).contiguous())


def _write(path, pixels):
    """(H, W, 3) bytes as an 8-bit RGB file."""
    height, width, _ = pixels.shape
    flat = ctypes.string_at(pixels.data_ptr(), pixels.numel())
    rows = b"".join(b"\0" + flat[line * width * 3 : (line + 1) * width * 3] for line in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b"")):
            body = kind + data
            file.write(struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body)))
