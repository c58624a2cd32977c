"""What a site has of what a project needs: one JSON object on stdout. The standard library alone, CPython 3.8 or later.

Run as `python - NEEDS FOLDER NODE` with this file on stdin. NEEDS is the project's check.json; nothing is written or imported
but metadata.
"""
import json
import os
import platform
import shutil
import subprocess
import sys


def output(*command):
    """What a command prints; None where it cannot be run or fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def specifiers():
    """PEP 440 ranges: of the package, else of the copy in pip; None where there is neither."""
    for name in ("packaging.specifiers", "pip._vendor.packaging.specifiers"):
        try:
            return __import__(name, fromlist=["SpecifierSet"]).SpecifierSet
        except ImportError:
            pass
    return None


def within(version, wanted):
    """Whether a version is in a range; None where no range can be read here."""
    ranges = specifiers()
    return None if ranges is None else ranges(wanted).contains(version, prereleases=True)


def package(name, wanted):
    try:
        from importlib.metadata import PackageNotFoundError, version

        found = version(name)
    except (ImportError, PackageNotFoundError):
        return {"version": None, "fits": False}
    return {"version": found, "fits": within(found, wanted)}


def table(text):
    return [[field.strip() for field in line.split(",")] for line in (text or "").splitlines() if line.strip()]


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def gpus():
    """None: there is no driver of NVIDIA. Memory in MiB."""
    fields = "index,uuid,name,memory.total,memory.used,utilization.gpu"
    listed = output("nvidia-smi", "--query-gpu=" + fields, "--format=csv,noheader,nounits")
    if listed is None:
        return None
    held = table(output("nvidia-smi", "--query-compute-apps=gpu_uuid,pid,used_memory", "--format=csv,noheader,nounits"))
    return [
        {
            "index": int(index),
            "name": name,
            "total": number(total),
            "used": number(used),
            "utilization": number(busy),
            "processes": [
                {"pid": int(row[1]), "memory": number(row[2]), "user": owner(row[1])} for row in held if row[0] == uuid and len(row) > 2
            ],
        }
        for index, uuid, name, total, used, busy in (row for row in table(listed) if len(row) == 6)
    ]


def owner(pid):
    said = output("ps", "-o", "user=", "-p", pid)
    return None if said is None else said.strip() or None


def hub():
    home = os.environ.get("HF_HOME") or os.path.join(os.path.expanduser("~"), ".cache", "huggingface")
    return os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE") or os.path.join(home, "hub")


def model(name):
    """Whether a model is here: a folder, or a snapshot in the Hub's cache with its weights."""
    if name is None:
        return None
    offline = os.environ.get("HF_HUB_OFFLINE", "") in ("1", "true", "True", "ON", "YES")
    folder = os.path.expanduser(name)
    if name.startswith(("/", "~", ".")):
        return {"kind": "folder", "there": os.path.isfile(os.path.join(folder, "config.json")), "offline": offline}
    snapshots = os.path.join(hub(), "models--" + name.replace("/", "--"), "snapshots")
    there = False
    if os.path.isdir(snapshots):
        for one in os.listdir(snapshots):
            names = os.listdir(os.path.join(snapshots, one))
            there = there or any(file.endswith((".safetensors", ".bin")) for file in names)
    return {"kind": "hub", "there": there, "offline": offline}


def nearest(folder):
    """The folder, or the first one above it that is there."""
    folder = os.path.abspath(os.path.expanduser(folder))
    while not os.path.isdir(folder) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def main(needs, folder, node):
    near = nearest(folder)
    version = platform.python_version()
    said = output(os.path.expanduser(node), "--version")
    print(
        json.dumps(
            {
                "host": platform.node(),
                "system": platform.system(),
                "python": {"version": version, "path": sys.executable, "fits": within(version, needs["python"])},
                "packages": {name: package(name, wanted) for name, wanted in needs["packages"].items()},
                "gpus": gpus(),
                "model": model(needs["model"]),
                "disk": {"free": shutil.disk_usage(near).free, "writable": os.access(near, os.W_OK)},
                "node": None if said is None else said.strip().lstrip("v"),
                "tools": {name: shutil.which(name) is not None for name in ("setsid", "tar", "sh")},
            }
        )
    )


main(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3])
