/**
 * Namespaces of its own for a process (`unshare`, util-linux): users, mounts, processes, network, IPC and host name. What is
 * mounted there is the program, the libraries that it loads, and the files that it is to see, read-only. Linux only; no
 * privileges are needed, and those that root of a namespace has are given up before the program begins.
 */
import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { promisify } from "node:util";
import { loadedBy } from "./loadedBy.ts";
import { realPath } from "../../../../shared/lib/realPath.ts";

const run = promisify(execFile);

/**
 * Makes the root and enters it. Arguments: how many paths are seen, these, then the program and its arguments. The program is no
 * exec of this shell: as the first process of its namespace it would not die of an abort. What unmounts reads /proc, which goes last.
 */
const script = `
set -e
PATH=/usr/sbin:/usr/bin:/sbin:/bin
base=$1; umount=$2; setpriv=$3; count=$4
shift 4
mount -t tmpfs -o size=1m,mode=755 tmpfs "$base"
cd "$base"
while [ "$count" -gt 0 ]; do
  if [ -d "$1" ]; then mkdir -p ".$1"; else mkdir -p ".\${1%/*}"; : > ".$1"; fi
  mount --bind "$1" ".$1"
  mount -o remount,ro,bind ".$1"
  count=$((count - 1))
  shift
done
mkdir old proc
mount --rbind /proc proc
mount -o remount,ro,bind "$base"
pivot_root . old
cd /
"$umount" -l /old
"$umount" -l /proc
unset PATH PWD OLDPWD
"$setpriv" --bounding-set=-all --inh-caps=-all --no-new-privs -- "$@"
`;

const unshare = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--net", "--ipc", "--uts"];

/** A folder that is everywhere and hides nothing that is to be seen: the root is mounted over it. */
const bases = ["/mnt", "/media", "/srv", "/tmp", "/opt"];
const baseFor = (visible: readonly string[]): string | undefined =>
  bases.find((base) => isFolder(base) && !visible.some((path) => path.startsWith(`${base}/`)));

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

const pathOf = async (name: string): Promise<string> =>
  realPath((await run("sh", ["-c", `PATH=/usr/sbin:/usr/bin:/sbin:/bin command -v ${name}`])).stdout.trim());

/** What is seen in every one. Without a source of chance Node does not start. */
const devices = ["/dev/null", "/dev/urandom"];

export class Namespaces {
  private constructor(
    private readonly own: readonly string[],
    private readonly umount: string,
    private readonly setpriv: string,
  ) {}

  /** undefined: this machine gives none. @param program that will run in them */
  static async of(program: string): Promise<Namespaces | undefined> {
    if (process.platform !== "linux") return undefined;
    try {
      const [umount, setpriv] = await Promise.all([pathOf("umount"), pathOf("setpriv")]);
      const loaded = await Promise.all([program, umount, setpriv].map(loadedBy));
      const made = new Namespaces([...new Set([...loaded.flat(), ...devices])], umount, setpriv);
      const [file = "", ...args] = made.around([program, "--version"], []);
      const { stdout } = await run(file, args, { env: {}, timeout: 20_000 });
      return stdout.trim() === process.version ? made : undefined;
    } catch {
      // Whatever is missing: who needs them says so.
      return undefined;
    }
  }

  /** The command that starts `argv` in them. */
  around(argv: readonly string[], visible: readonly string[]): readonly string[] {
    const seen = [...new Set([...this.own, ...visible])];
    const base = baseFor(seen) ?? "/mnt";
    const before = [...unshare, "--fork", "--kill-child=KILL", "sh", "-c", script, "sh"];
    return [...before, base, this.umount, this.setpriv, String(seen.length), ...seen, ...argv];
  }
}
