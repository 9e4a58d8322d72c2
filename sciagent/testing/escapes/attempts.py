"""The attempts, each a few lines of Python. `G` holds what they know of the ground."""

from dataclasses import dataclass
from typing import Literal

Needs = Literal["", "namespace"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt.

    Attributes
    ----------
    name
        What is tried.
    code
        Prints ``ESCAPED`` or what it should not have seen when it succeeds.
    works_outside
        Succeeds, and does no harm, in a plain process: shows that the attempt is a real one.
    needs
        What the ground must have.
    """

    name: str
    code: str
    works_outside: bool = False
    needs: Needs = ""


def _connect(address: str, family: str = "AF_INET") -> str:
    return (
        f"import socket\ns = socket.socket(socket.{family}); s.settimeout(2)\n"
        f"s.connect(({address}))\nprint('ESCAPED')"
    )


_SECRETS = (
    Attempt("read a secret file", "print(open(G['secret']).read())", works_outside=True),
    Attempt(
        "read the owner's environment",
        "import os, glob\nprint(dict(os.environ))\nfor p in glob.glob('/proc/*/environ'):\n"
        "    try: print(open(p).read())\n    except OSError: pass",
        works_outside=True,
    ),
    Attempt(
        "read the command lines of all processes",
        "import glob\nfor p in glob.glob('/proc/*/cmdline'):\n    print(open(p).read())",
    ),
    Attempt(
        "read files of the home folder",
        "import os\nfor name in os.listdir(G['home']):\n"
        "    if os.path.isfile(os.path.join(G['home'], name)): print('ESCAPED')",
    ),
    Attempt("read the password hashes", "if open('/etc/shadow').read(): print('ESCAPED')"),
    Attempt(
        "read the connection file of another run",
        "print(open(G['connection']).read())", works_outside=True,
    ),
    Attempt(
        "look for the secret in every folder",
        "import os\nfor top, _, names in os.walk('/', onerror=None):\n"
        "    if top.startswith(('/proc', '/usr', '/dev')): continue\n"
        "    if 'secret-of-the-ground' in names: print('ESCAPED')",
    ),
    Attempt(
        "go through /proc to another root",
        "import os\nfor p in ('/proc/1/root', '/proc/1/cwd', '/proc/self/root'):\n"
        "    try: print(open(p + G['secret']).read())\n    except OSError: pass",
        works_outside=True,
    ),
    Attempt(
        "use an inherited descriptor",
        "import os\nfor n in os.listdir('/proc/self/fd'):\n    try:\n"
        "        f = os.open(G['secret'].lstrip('/'), os.O_RDONLY, dir_fd=int(n))\n"
        "        print(os.read(f, 100))\n    except OSError: pass",
    ),
)  # fmt: skip

_WRITES = (
    Attempt("write beside the workspace", "open(G['outside'] + '/new', 'w').write('x')"),
    Attempt("write over a file outside", "open(G['secret'], 'w').write('x')"),
    Attempt("write to /usr", "open('/usr/' + G['probe'], 'w'); print('ESCAPED')"),
    Attempt("write among the packages", "open(G['packages'] + '/' + G['probe'], 'w')"),
    Attempt("write into this package", "open(G['package'] + '/' + G['probe'], 'w')"),
    Attempt(
        "mount the system writable",
        "import ctypes\nc = ctypes.CDLL(None, use_errno=True)\n"
        "c.mount(b'none', b'/usr', None, 32 | 4096, None)\n"
        "open('/usr/' + G['probe'], 'w'); print('ESCAPED')",
    ),
    Attempt(
        "take a user namespace and mount in it",
        "import ctypes\nc = ctypes.CDLL(None, use_errno=True)\n"
        "c.unshare(0x10000000 | 0x00020000)\nc.mount(b'none', b'/usr', None, 32 | 4096, None)\n"
        "open('/usr/' + G['probe'], 'w'); print('ESCAPED')",
    ),
    Attempt("forge the journal", "open('events.jsonl', 'a').write('forged')"),
    Attempt("replace the journal", "import os\nos.rename('data', 'd'); os.remove('events.jsonl')"),
    Attempt("approve one's own request", "open('inbox/0.json', 'w').write('{}')"),
    Attempt(
        "put a link in place of the inbox",
        "import os\nos.rename('inbox', 'old'); os.symlink(G['outside'], 'inbox')",
    ),
    Attempt(
        "put a link in place of the figures",
        "import os, shutil\nshutil.rmtree('figures', ignore_errors=True)\n"
        "try: os.rename('figures', 'f')\nexcept OSError: pass\n"
        "os.symlink(G['outside'], 'figures')",
    ),
    Attempt(
        "let the owner write a picture through a link",
        "import os\nfrom IPython.display import Image, display\n"
        "for n in range(1, 80): os.symlink(G['outside'] + '/new', f'figures/cell-{n:04d}-1.png')\n"
        "display(Image(data=b'\\x89PNG\\r\\n\\x1a\\n', format='png'))",
    ),
    Attempt(
        "let the owner write the record through a link",
        "import os\nname = f\".record.ipynb.{G['owner']}.tmp\"\n"
        "os.symlink(G['outside'] + '/new', name)\nprint('waiting')",
    ),
)

_NETWORK = (
    Attempt("connect to loopback", _connect("'127.0.0.1', G['port']"), works_outside=True),
    Attempt("connect to loopback by IPv6", _connect("'::1', G['port']", "AF_INET6")),
    Attempt(
        "connect to a private address", _connect("G['private'], G['there']"),
        works_outside=True, needs="namespace",
    ),
    Attempt(
        "connect to a public address", _connect("G['public'], G['there']"),
        works_outside=True, needs="namespace",
    ),
    Attempt(
        "send a datagram",
        "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM)"
        ".sendto(b'x', (G['private'], G['there']))\nprint('ESCAPED')",
        works_outside=True, needs="namespace",
    ),
    Attempt(
        "ask a name server",
        "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1)\n"
        "s.sendto(b'\\0' * 12, (G['private'], 53))\nprint('ESCAPED')",
        works_outside=True, needs="namespace",
    ),
    Attempt(
        "look a name up",
        "import socket\nsocket.gethostbyname('host.invalid'); print('ESCAPED')",
    ),
    Attempt(
        "use an abstract socket",
        "import socket\ns = socket.socket(socket.AF_UNIX); s.connect('\\0' + G['abstract'])\n"
        "print('ESCAPED')", works_outside=True,
    ),
    Attempt(
        "use a socket file outside",
        "import socket\ns = socket.socket(socket.AF_UNIX); s.connect(G['socket'])\n"
        "print('ESCAPED')", works_outside=True,
    ),
)  # fmt: skip

_PROCESSES = (
    Attempt("signal the owner", "import os\nos.kill(G['canary'], 19); print('sent')"),
    Attempt("signal everybody", "import os\nos.kill(-1, 0); os.kill(-1, 18); print('sent')"),
    Attempt(
        "trace a process outside",
        "import ctypes\nif ctypes.CDLL(None).ptrace(16, G['canary'], 0, 0) == 0: print('ESCAPED')",
    ),
    Attempt(
        "read the memory of the owner",
        "f = open(f\"/proc/{G['canary']}/mem\", 'rb'); print('ESCAPED')", works_outside=True,
    ),
    Attempt(
        "join the namespaces of process 1",
        "import ctypes, os\nc = ctypes.CDLL(None)\nfor n in ('mnt', 'net', 'pid'):\n"
        "    f = os.open('/proc/1/ns/' + n, os.O_RDONLY); c.setns(f, 0)\n"
        "print(open(G['secret']).read())",
    ),
    Attempt(
        "type into the terminal",
        "import fcntl, os\nf = os.open('/dev/tty', os.O_RDWR)\nfcntl.ioctl(f, 0x5412, b'x')\n"
        "print('ESCAPED')",
    ),
)  # fmt: skip

_RESOURCES = (
    Attempt(
        "fill /tmp",
        "n = 0\nwith open('/tmp/big', 'wb') as f:\n    while n < 2 * G['tmp_mib']:\n"
        "        f.write(b'0' * 2**20); f.flush(); n += 1\nprint('ESCAPED')",
    ),
    Attempt(
        "fill /dev/shm",
        "n = 0\nwith open('/dev/shm/big', 'wb') as f:\n    while n < 2 * G['tmp_mib']:\n"
        "        f.write(b'0' * 2**20); f.flush(); n += 1\nprint('ESCAPED')",
    ),
    Attempt(
        "write an endless file",
        "import os, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "with open('data/big', 'wb') as f:\n    f.truncate(2 * G['file_mib'] * 2**20)\n"
        "print('ESCAPED')",
    ),
    Attempt(
        "take all memory",
        "kept = []\ntry:\n    for _ in range(2 * G['memory_mib'] // 50):\n"
        "        kept.append(b'1' * (50 << 20))\n    print('ESCAPED')\n"
        "except MemoryError: print('refused after', len(kept))\nfinally: del kept",
    ),
    Attempt(
        "take all memory by children",
        "import os, time\nhear, tell = os.pipe()\nfor _ in range(4):\n    if os.fork() == 0:\n"
        "        try: kept = b'1' * (G['memory_mib'] // 2 << 20); os.write(tell, b'x')\n"
        "        finally: time.sleep(8); os._exit(0)\n"
        "os.close(tell); time.sleep(4)\nif len(os.read(hear, 4)) == 4: print('ESCAPED')",
    ),
    Attempt(
        "fork without end",
        "import os, time\nmade = 0\ntry:\n    while made < 4 * G['processes']:\n"
        "        if os.fork() == 0: time.sleep(20); os._exit(0)\n        made += 1\n"
        "    print('ESCAPED')\nexcept OSError as error: print(made, error)",
    ),
)

ATTEMPTS = (*_SECRETS, *_WRITES, *_NETWORK, *_PROCESSES, *_RESOURCES)
"""All attempts; those that may cost the kernel come last."""
