"""The wheel of kvclient for pip (PEP 517): CMake builds the module, this packs it.

The module is built in $KVTIER_BUILD or the checkout's build folder when that one is of this interpreter, otherwise in a
folder of its own that is made anew: minutes.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[1]
_MODULE = "_kvclient" + sysconfig.get_config_var("EXT_SUFFIX")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory(prefix="kvclient-") as scratch:
        module = _build_module(Path(scratch))
        return _pack(Path(wheel_directory), _contents(module))


def _build_module(scratch):
    build = Path(os.environ.get("KVTIER_BUILD", _ROOT / "build")).resolve()
    if not (build / "python/kvclient" / _MODULE).exists():
        build = scratch
        _cmake("-G", "Ninja", "-S", _ROOT, "-B", build, "-DKVTIER_TESTS=OFF", f"-DPython3_EXECUTABLE={sys.executable}")
    _cmake("--build", build, "--target", "_kvclient")
    return (build / "python/kvclient" / _MODULE).read_bytes()


def _cmake(*words):
    subprocess.run(["cmake", *map(str, words)], check=True)


def _version():
    return re.search(r"project\(kvtier VERSION ([\d.]+)", (_ROOT / "CMakeLists.txt").read_text()).group(1)


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _contents(module):
    """Bytes by their path in the wheel; RECORD comes last."""
    files = {f"kvclient/{_MODULE}": module}
    for path in sorted((_HERE / "kvclient").rglob("*.py")):
        files[path.relative_to(_HERE).as_posix()] = path.read_bytes()
    about = f"kvclient-{_version()}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: kvclient\nVersion: {_version()}\nLicense: Apache-2.0\n"
    wheel = f"Wheel-Version: 1.0\nGenerator: build_wheel\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    files |= {f"{about}/METADATA": metadata.encode(), f"{about}/WHEEL": wheel.encode()}
    rows = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in files.items())
    return files | {f"{about}/RECORD": f"{rows}{about}/RECORD,,\n".encode()}


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _pack(folder, files):
    name = f"kvclient-{_version()}-{_tag()}.whl"
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name
