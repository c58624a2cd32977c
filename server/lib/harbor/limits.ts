/** What the processes of an episode may take of this machine, without privileges: limits of each, and one that looks at all. */
import { readFileSync } from "node:fs";

/**
 * The first process there, which nothing there can end or stop: says when all processes together hold more than they may,
 * and ends them. Pages that several processes share are counted once, where it matters. What no process maps counts, too: segments of
 * System V that are attached nowhere, and files of memory (`memfd`), looked for once in twenty looks since that starts programs.
 */
export const watch = `
exec 3<> <(:)
page=4
while read -r name kb _; do [ "$name" = KernelPageSize: ] && page=$kb && break; done < /proc/self/smaps
look=0
files=0
while :; do
  read -rt 0.05 -u 3
  pages=0
  for file in /proc/[0-9]*/statm; do
    { read -r _ own _ < "$file" && pages=$((pages + own)); } 2> /dev/null
  done
  segments=0
  { read -r _; while read -r _ _ _ _ _ _ attached _ _ _ _ _ _ _ bytes _; do
    [ "$attached" = 0 ] && segments=$((segments + bytes / 1024))
  done; } < /proc/sysvipc/shm 2> /dev/null
  look=$((look + 1))
  if [ $((look % 20)) = 0 ]; then
    files=0
    while read -r _ blocks; do files=$((files + blocks / 2)); done < <(find /proc/[0-9]*/fd -lname '/memfd:*' -exec stat -Lc '%i %b' {} + 2> /dev/null | sort -u)
  fi
  [ $((pages * page + segments + files)) -gt "$1" ] || continue
  kb=0
  mapped=0
  for file in /proc/[0-9]*/smaps_rollup; do
    { while read -r name own _; do
      case "$name" in Pss:) kb=$((kb + own)) ;; Pss_Shmem:) mapped=$((mapped + own)) ;; esac
    done < "$file"; } 2> /dev/null
  done
  kb=$((kb + segments + (files > mapped ? files - mapped : 0)))
  [ "$kb" -gt "$1" ] || continue
  echo "$((kb / 1024))"
  kill -9 -1
  files=0
done
`;

export interface Limits {
  /** That its files may take. */
  readonly megabytes: number;
  /** MB that all of its processes together may hold. */
  readonly memory: number;
  /** That its programs see; undefined: all. */
  readonly processors?: number | undefined;
}

/** Processes at once: enough for any build, too few to fill this machine's table. */
const mostProcesses = 4096;

/** Those that this process may run on, e.g. "0-3,8". */
function ownProcessors(): readonly number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  return list.split(",").flatMap((part) => {
    const [first = 0, last = first] = part.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
}

/** How many machines have been opened: each next one is put on other processors. */
let opened = 0;

/** What programs are started with. One that asks the kernel for other processors may have them. */
export function limiting({ memory, processors }: Limits): readonly string[] {
  // A wall for what grows between two looks of the first process; it is far enough that most is seen before it.
  const most = (memory + Math.max(memory, 512)) * 2 ** 20;
  return [...placed(processors), "prlimit", `--data=${most}`, `--nproc=${mostProcesses}`];
}

function placed(processors: number | undefined): readonly string[] {
  const all = ownProcessors();
  if (processors === undefined || processors >= all.length) return [];
  const count = Math.ceil(processors);
  const first = (opened++ * count) % all.length;
  const chosen = Array.from({ length: count }, (_, at) => all[(first + at) % all.length]!);
  return ["taskset", "-c", chosen.join(",")];
}
