/** Which files of a folder an import reads, and how each of them is written: never weights. */

export interface FileKind {
  /** Only its end changes; else it is another file each time that it is written. */
  readonly grows: boolean;
  /** Bytes; a larger one is left out. */
  readonly most: number;
}

const [mega, giga] = [1 << 20, 2 ** 30];
const script = /\.(ya?ml|toml|sh|bash|slurm|sbatch|py)$/;

/** The first that a path matches decides. Paths are relative and have slashes. */
const kinds: readonly (readonly [RegExp, FileKind | undefined])[] = [
  // prime-rl: what a step trained on. What `all/` has in addition is not read.
  [/(^|\/)effective\/traces\.jsonl$/, { grows: false, most: 4 * giga }],
  [/(^|\/)traces\.jsonl$/, undefined],
  [/(^|\/)\d+\.jsonl$/, { grows: false, most: 4 * giga }],
  [/(^|\/)rollouts-[^/]+\.jsonl$/, { grows: true, most: 64 * giga }],
  [/\.jsonl$/, { grows: true, most: giga }],
  [/(^|\/)completions_\d+\.parquet$/, { grows: false, most: 4 * giga }],
  [/(^|\/)events\.out\.tfevents\.[^/]+$/, { grows: true, most: 4 * giga }],
  [/(^|\/)run-[^/]+\.wandb$/, { grows: true, most: 4 * giga }],
  [/\.db(-wal)?$/, { grows: false, most: giga }],
  [/(^|\/)(trainer_state|training)\.json$/, { grows: false, most: giga / 4 }],
  [script, { grows: false, most: mega }],
  [/\.log$|(^|\/)log-[^/]+\.txt$/, { grows: true, most: giga / 4 }],
];

export const kindOf = (path: string): FileKind | undefined =>
  kinds.find(([pattern]) => pattern.test(path))?.[1];

const scripts = ["*.yaml", "*.yml", "*.sh", "*.bash", "*.slurm", "*.sbatch", "*.py"];
/** What `find` looks for besides: with `firstNames` at least all that has a kind. */
const names = [
  ...["*.jsonl", "completions_*.parquet", "run-*.wandb", "*.db", "*.db-wal"],
  ...["*.toml", "*.log", "log-*.txt", ...scripts],
];
/** Written after the rollouts of the same step: looked at first, they never say more than the rollouts that come with them. */
const firstNames = ["metrics*.jsonl", "trainer_state.json", "training.json", "events.out.tfevents.*"];
/** Next to a folder of rollouts. */
const nextToNames = ["*.jsonl", "trainer_state.json", ...scripts];

const anyOf = (patterns: readonly string[]): string =>
  `\\( ${patterns.map((pattern) => `-name '${pattern}'`).join(" -o ")} \\)`;

/** Folders below the named one: prime-rl's episodes lie deepest. */
const depth = 8;
/** Hidden folders but Hydra's record of what ran, and what is installed. */
const skipped = `-type d \\( -name '.?*' ! -name .hydra -o -name node_modules -o -name __pycache__ -o -name site-packages \\) -prune`;
/** Size, times of the last write and of the last change, inode, path, and a NUL: a name may hold a line break. */
const printed = `-printf '%s %T@ %C@ %i %p\\0'`;

/** The lines of a script that list the folder of a file that was named. */
export const listFileLine = `find . -maxdepth 1 -type f ${printed}`;

/** Lines of a script that list the present folder. @param since only what changed after so many seconds since 1970 */
export function listLines(nextTo: boolean, since: number | undefined): readonly string[] {
  const first = anyOf(firstNames);
  const asked = since === undefined ? printed : `-newerct @${since} ${printed}`;
  return [
    ...(nextTo ? [`find .. -maxdepth 1 -type f ${anyOf(nextToNames)} ${asked}`] : []),
    `find . -maxdepth ${depth} ${skipped} -o -type f ${first} ${asked}`,
    `find . -maxdepth ${depth} ${skipped} -o -type f ${anyOf(names)} ! ${first} ${asked}`,
  ];
}

/** Whether metrics and scripts may lie next to a folder of this name. */
export const hasNeighbours = (name: string): boolean => /rollout|completions/i.test(name);

export const isDatabase = (path: string): boolean => /\.db(-wal)?$/.test(path);
/** The other file of a database: its log, or the database of a log. */
export const otherOf = (path: string): string =>
  path.endsWith("-wal") ? path.slice(0, -"-wal".length) : `${path}-wal`;

/** What is brought first: scripts, which are small and say whose run it is, then rollouts, then what is written after them. */
export function orderOf(path: string): number {
  if (script.test(path)) return 0;
  const last = /(^|\/)(metrics[^/]*\.jsonl|trainer_state\.json|training\.json|events\.out\.tfevents\.[^/]+)$/;
  return last.test(path) ? 2 : 1;
}
