/** What the processes of an episode may take of this machine, without privileges: limits of each, and one that looks at all. */
import { readFileSync } from "node:fs";

/**
 * The first process there, which nothing there can end or stop: says when all processes together hold more than they may,
 * and ends them. It starts no process itself. Pages that several processes share are counted once, where it matters.
 */
export const watch = `
exec 3<> <(:)
page=4
while read -r name kb _; do [ "$name" = KernelPageSize: ] && page=$kb && break; done < /proc/self/smaps
while :; do
  read -rt 0.05 -u 3
  pages=0
  for file in /proc/[0-9]*/statm; do
    { read -r _ own _ < "$file" && pages=$((pages + own)); } 2> /dev/null
  done
  [ $((pages * page)) -gt "$1" ] || continue
  kb=0
  for file in /proc/[0-9]*/smaps_rollup; do
    { while read -r name own _; do [ "$name" = Pss: ] && kb=$((kb + own)); done < "$file"; } 2> /dev/null
  done
  [ "$kb" -gt "$1" ] || continue
  echo "$((kb / 1024))"
  kill -9 -1
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
