"""Gets the files of a folder back that `greenfs serve --pool` has served, without greenfs.

    python3 rescue.py POOL FOLDER TO [KEYFILE]

POOL and FOLDER are as the server has them; FOLDER may also be a part of what was served, or the
folder of `--keep`. TO must not be there yet. What cannot be read is named and left out, and the
exit status is then 1. Needs Python 3.8 or later; if the pool is encrypted, also its key and
`pip install cryptography`.
"""

import hmac
import os
import shutil
import stat
import struct
import sys
from hashlib import sha256
from pathlib import Path


class Pool:
    """The chunks in a folder; `key` are the 32 bytes of its key, if they are encrypted."""

    def __init__(self, root, key=None):
        self.root, self.key = root, key
        if key:
            from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

            self.cipher = ChaCha20Poly1305
            self.ids = hmac.digest(key, b"greenfs ids", "sha256")
            self.data = hmac.digest(key, b"greenfs data", "sha256")

    def _id(self, data):
        return hmac.digest(self.ids, data, "sha256") if self.key else sha256(data).digest()

    def _opened(self, name, sealed):
        try:
            key = self.key and hmac.digest(self.data, name, "sha256")
            data = self.cipher(key).decrypt(bytes(12), sealed, None) if key else sealed
        except Exception as error:  # a tag that is wrong has an exception of its own
            raise ValueError(f"{name.hex()} is damaged, or has another key") from error
        if self._id(data) != name:
            raise ValueError(f"{name.hex()} is damaged")
        return data

    def pieces(self, recipe):
        """Yield the data that a recipe stands for."""
        magic, name, body = recipe[:8], recipe[8:40], recipe[40:]
        if magic == b"GFSdata1":
            yield self._opened(name, body)
        elif magic == b"GFSlist1" and self._id(magic + body) == name:
            for chunk, size_b in struct.iter_unpack("<32sI", body[8:]):
                place = self.root / "chunks" / chunk.hex()[:2] / chunk.hex()
                place = place if place.exists() else self.root / "fresh" / chunk.hex()
                data = self._opened(chunk, place.read_bytes())
                if len(data) != size_b:
                    raise ValueError(f"{chunk.hex()} has another size")
                yield data
        elif recipe:
            raise ValueError("this is no recipe, or a damaged one")


class Rescue:
    """What of a folder is got back; `lost` names what cannot be read."""

    def __init__(self, pool, folder, target):
        self.pool, self.folder, self.target = pool, folder, target
        self.links, self.lost = {}, []
        both = folder / "log", folder / "pool"  # of the folder of `--keep`: lines of JSON
        files = [at for at in both if at.is_file() and not at.is_symlink()]
        self.own = {Path(at.name) for at in files if at.read_bytes()[:1] == b"{"}
        self.own.add(Path(".greenfs/pool"))

    def get(self, name, source, to):
        """Copy a file, a link, or a folder with all in it: one of this name, from here to there."""
        found = source.lstat()
        if stat.S_ISDIR(found.st_mode):
            to.mkdir()
            # By their names from the root, the deepest would be longer than the kernel takes.
            opened = [os.open(place, os.O_RDONLY | os.O_DIRECTORY) for place in (source, to)]
            here, there = (Path("/proc/self/fd", str(number)) for number in opened)
            for inner in sorted(os.listdir(here)):
                if name / inner not in self.own:
                    self.get(name / inner, here / inner, there / inner)
            for number in opened:
                os.close(number)
        elif stat.S_ISLNK(found.st_mode):
            to.symlink_to(os.readlink(source))
        elif self._is_linked((found.st_dev, found.st_ino), to):
            return
        else:
            try:
                with to.open("xb") as file:
                    file.writelines(self.pool.pieces(source.read_bytes()))
            except (OSError, ValueError) as error:
                self.lost.append(f"{self.folder / name}: {error}")
                return to.unlink(missing_ok=True)
            self.links[found.st_dev, found.st_ino] = self.target / name
        if os.geteuid() == 0:
            os.chown(to, found.st_uid, found.st_gid, follow_symlinks=False)
        if not to.is_symlink():
            shutil.copystat(source, to)

    def _is_linked(self, number, to):
        try:
            os.link(self.links[number], to)
        except (KeyError, OSError):  # the first one's name may be too long
            return False
        return True


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    root, folder, target = map(Path, sys.argv[1:4])
    secret = bytes.fromhex(Path(sys.argv[4]).read_text()) if sys.argv[4:] else None
    if os.path.lexists(target):
        sys.exit(f"{target} is there already: name a place where nothing is")
    rescue = Rescue(Pool(root, secret), folder, target)
    rescue.get(Path(), folder, target)
    sys.exit("\n".join(rescue.lost) or None)
