/**
 * Which rows of a recorded log may train: none that was written to be measured or to try a task, and none of a task that
 * this run's evaluation asks. Of what is left out the run says how much, and why.
 */
import { UserError } from "../../../shared/lib/errors.ts";
import { isMeasured } from "../../../shared/rollouts/rollouts.ts";
import type { RecordedRow } from "../../analysis/recorded.ts";
import type { TaskSource } from "../../core/slots/tasks.ts";

/** What the config says of tasks that evaluation holds out. */
export type HeldOut = "leave_out" | "train";

/** Something to tell at the run's start. */
export interface StartNote {
  readonly name: string;
  readonly message: string;
  readonly action: string;
}

type Reason = "measured" | "heldOut";
const reasons: Readonly<Record<Reason, string>> = {
  measured: "generated to be measured (`use: evaluate` or `estimate`)",
  heldOut: "of tasks that this run's evaluation holds out",
};

const counted = (count: number): string => `${count} ${count === 1 ? "rollout" : "rollouts"}`;

/**
 * @param sources what evaluation asks
 * @throws UserError where nothing is left
 */
export function trainable(
  path: string,
  recorded: readonly RecordedRow[],
  sources: readonly TaskSource[],
  heldOut: HeldOut,
): { readonly rows: readonly RecordedRow[]; readonly notes: readonly StartNote[] } {
  const left: Record<Reason, number> = { measured: 0, heldOut: 0 };
  const rows = recorded.filter((one) => {
    const reason = reasonAgainst(one, sources, heldOut);
    if (reason !== undefined) left[reason] += 1;
    return reason === undefined;
  });
  const why = (["measured", "heldOut"] as const)
    .filter((reason) => left[reason] > 0)
    .map((reason) => `${left[reason]} ${reasons[reason]}`)
    .join(", ");
  const action = `Record rollouts that trained${left.heldOut > 0 ? ", or set `held_out: train` next to `path` if they should train anyway" : ""}.`;
  if (rows.length === 0)
    throw new UserError(`none of the ${counted(recorded.length)} may train: ${why}`, {
      file: path,
      code: "rollouts-left-out",
      action,
    });
  const message = `Of the ${counted(recorded.length)} of ${path} ${recorded.length - rows.length} are left out: ${why}.`;
  return { rows, notes: why === "" ? [] : [{ name: "rollouts-left-out", message, action }] };
}

/** Why a rollout does not train; undefined: it does. */
export function reasonAgainst(
  { row }: RecordedRow,
  sources: readonly TaskSource[],
  heldOut: HeldOut,
): Reason | undefined {
  if (isMeasured({ ...row })) return "measured";
  if (heldOut === "train") return undefined;
  const asked = {
    ...(row.task?.id === undefined ? {} : { id: row.task.id }),
    ...(row.prompt === undefined ? {} : { prompt: row.prompt }),
  };
  return sources.some((source) => source.holdsOut?.(asked) === true) ? "heldOut" : undefined;
}

/** @throws UserError where no row of a log has a reward, and its rewards are what training reads */
export function checkScored(
  path: string,
  rows: readonly RecordedRow[],
  rewards: readonly number[],
  terms: readonly string[],
): void {
  if (rewards.some((reward) => !Number.isNaN(reward))) return;
  const named = new Set(rows.flatMap(({ row }) => Object.keys({ ...row.rewards, ...row.errors })));
  const list = (names: readonly string[]): string =>
    names.length === 0 ? "none" : names.map((name) => `\`${name}\``).join(", ");
  throw new UserError(
    `the log cannot train: none of its ${counted(rows.length)} has a reward. Its terms are ${list([...named])}; the config's are ${list(terms)}`,
    {
      file: path,
      code: "replay-terms",
      action:
        "Name the config's terms as the log does, or let the config's terms score the responses: `replay.rescore: { use: recomputed, terms: again }`.",
    },
  );
}
