/**
 * For one rollout, why its advantage is what it is: its siblings, each reward term's share, what another baseline or
 * scale would have given, and which tokens are masked, clipped or weighted, by which rule.
 */
import { UserError } from "../../../shared/lib/errors.ts";
import { fromWire, toWire, type MaybeNumber } from "../../../shared/rollouts/rollouts.ts";
import type { Why, WhySibling } from "../../../shared/rollouts/why.ts";
import type { Scores } from "../../algorithm/rewards/rewards.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { checkTerms, StepExplainer, type SolvedStep } from "./explain.ts";
import { groupKey, type RecordedRow } from "../recorded.ts";
import { alternatives } from "./alternatives.ts";
import { criteriaOf } from "./criteria.ts";
import { memoryBefore, type Remember } from "./memory.ts";
import { RecordedStep } from "./recordedStep.ts";
import { rowAdvantage } from "./rowAdvantage.ts";
import { inWords } from "./sentences.ts";
import { termShares } from "./termShares.ts";
import { tokenFacts } from "./tokenRules.ts";

/** `step` may be left out where only one step has the rollout. */
export interface WhichRollout {
  readonly step?: number;
  readonly group: string;
  readonly index: number;
}

/** `[STEP/]GROUP#INDEX`, as `gradus explain` prints rollouts. */
export function parseWhich(text: string): WhichRollout {
  const found = /^(?:(\d+)\/)?(.+)#(\d+)$/.exec(text);
  if (found === null)
    throw new UserError(`"${text}" does not name a rollout`, {
      code: "explain-which",
      action: "Write GROUP#INDEX, for example task-17#3, or STEP/GROUP#INDEX.",
    });
  const [, step, group = "", index] = found;
  return { group, index: Number(index), ...(step === undefined ? {} : { step: Number(step) }) };
}

const nameOf = ({ group, index }: WhichRollout): string => `${group}#${index}`;

/** A group by its number in a step, from 0, where no group has that name: nobody types the names that some trainers give. */
function numbered(rows: readonly RecordedRow[], which: WhichRollout): WhichRollout {
  const own = rows.filter(({ row }) => which.step === undefined || row.step === which.step);
  if (!/^\d+$/.test(which.group) || own.some(({ row }) => String(row.group) === which.group)) return which;
  const [first] = own;
  // Numbers of several steps would mean several groups.
  if (first === undefined || own.some(({ row }) => !sameStep(row, first.row))) return which;
  const groups = [...new Set(own.map(({ row }) => String(row.group)))];
  return { ...which, group: groups[Number(which.group)] ?? which.group };
}

function find(rows: readonly RecordedRow[], wanted: WhichRollout): RecordedRow {
  const which = numbered(rows, wanted);
  const inGroup = rows.filter(
    ({ row }) => String(row.group) === which.group && (which.step === undefined || row.step === which.step),
  );
  const found = inGroup.filter(({ row }) => row.index === which.index);
  const [first] = found;
  if (first === undefined) throw notThere(rows, inGroup, wanted);
  const steps = [...new Set(found.map(({ row }) => row.step))];
  if (steps.length > 1)
    throw new UserError(`${nameOf(which)} is in the steps ${steps.slice(0, 8).join(", ")}`, {
      code: "explain-which",
      action: `Name the step: ${steps[0]}/${nameOf(which)}.`,
    });
  if ((first.row.use ?? "train") !== "train")
    throw new UserError(
      `${nameOf(which)} has no advantage: its use is ${first.row.use}, and nothing trains on it`,
      { ...first.place, character: 0, code: "explain-which", action: "Choose a rollout that trains." },
    );
  return first;
}

/** "Step 5 has groups 0 to 3 of 4 rollouts: write 0#0 to 3#3"; undefined: of several steps, or groups whose names are numbers. */
function numbersOf(rows: readonly RecordedRow[]): string | undefined {
  const [first] = rows;
  if (first === undefined || rows.some(({ row }) => !sameStep(row, first.row))) return undefined;
  const sizes = new Map<string, number>();
  for (const { row } of rows) sizes.set(String(row.group), (sizes.get(String(row.group)) ?? 0) + 1);
  if ([...sizes.keys()].some((name) => /^\d+$/.test(name))) return undefined;
  const each = [...sizes.values()];
  const [least, most, last] = [Math.min(...each), Math.max(...each), sizes.size - 1];
  const of = least === most ? String(most) : `${least} to ${most}`;
  const groups = last === 0 ? "group 0" : `groups 0 to ${last}`;
  return `Step ${first.row.step} has ${groups} of ${of} rollouts: write 0#0 to ${last}#${each.at(-1)! - 1}`;
}

function notThere(
  rows: readonly RecordedRow[],
  inGroup: readonly RecordedRow[],
  which: WhichRollout,
): UserError {
  const at = which.step === undefined ? "" : ` in step ${which.step}`;
  const own = rows.filter(({ row }) => which.step === undefined || row.step === which.step);
  const byNumber = inGroup.length === 0 && /^\d+$/.test(which.group) ? numbersOf(own) : undefined;
  if (byNumber !== undefined)
    return new UserError(`there is no rollout ${nameOf(which)}${at}`, {
      code: "explain-which",
      action: `${byNumber}, or name another step: STEP/GROUP#INDEX.`,
    });
  // A group that was named by its number is listed by it.
  const names = [
    ...new Set(
      inGroup.length > 0
        ? inGroup.map(({ row }) => nameOf({ ...row, group: which.group }))
        : rows.map(({ row }) => nameOf(row)),
    ),
  ];
  const listed = `${names.slice(0, 8).join(", ")}${names.length > 8 ? ` and ${names.length - 8} more` : ""}`;
  return new UserError(`there is no rollout ${nameOf(which)}${at}`, {
    code: "explain-which",
    action: inGroup.length > 0 ? `The group has ${listed}.` : `The rollouts are ${listed}.`,
  });
}

/** A step with one of its rows in view. */
interface View {
  readonly step: RecordedStep;
  readonly row: number;
  readonly solved: SolvedStep;
  /** Why its loss could not be computed, where it could not. */
  readonly refusal: string | null;
  readonly advantage: number;
}

/** What rows of a step are seen with. */
interface Around {
  readonly config: RunConfig;
  /** Rollouts that only tell what a state is worth. */
  readonly estimates: readonly RecordedRow[];
  readonly remember: Remember;
}

function viewOf(
  { config, estimates, remember }: Around,
  rows: readonly RecordedRow[],
  recorded: RecordedRow,
  part = false,
): View {
  const step = new RecordedStep(config, rows, estimates);
  remember(step.algorithm);
  const explainer = new StepExplainer(step);
  let solved: SolvedStep;
  let refusal: string | null = null;
  try {
    solved = explainer.solve(part, !part);
  } catch (error) {
    if (!(error instanceof UserError) || part) throw error;
    // Log-probs that no loss can be made of say nothing against the advantage.
    solved = explainer.solve(part, false);
    refusal = error.message;
  }
  const row = rows.indexOf(recorded);
  return { step, row, solved, refusal, advantage: rowAdvantage(solved.advantages, step.batch, row) };
}

/** @throws UserError where the rollout is not among the rows, or its step lacks what the config needs */
export function why(config: RunConfig, rows: readonly RecordedRow[], which: WhichRollout): Why {
  checkTerms(config, rows);
  const recorded = find(rows, which);
  const trains = recorded.row.admitted !== false;
  const group = rows.filter(({ row }) => groupKey(row) === groupKey(recorded.row) && isOf(row, trains));
  // A group that was rejected is explained alone: what it would have had.
  const all = trains ? rows.filter(({ row }) => sameStep(row, recorded.row) && isOf(row, true)) : group;
  const around: Around = {
    config,
    estimates: rows.filter(({ row }) => row.use === "estimate" && sameStep(row, recorded.row)),
    remember: memoryBefore(config, rows, recorded),
  };
  const whole = viewOf(around, all, recorded);
  const criteria = criteriaOf(group.map(({ row }) => row));
  const parts: Omit<Why, "words"> = {
    type: "why",
    step: recorded.row.step,
    group: String(recorded.row.group),
    index: recorded.row.index,
    trains,
    reward: totalOf(whole.solved.scored, whole.row),
    advantage: wireOrNull(whole.advantage),
    recorded: wireOrNull(recordedAdvantage(whole)),
    baseline: whole.step.body.advantage.baseline.declaration.name,
    scale: whole.step.body.advantage.scale.declaration.name,
    siblings: siblingsOf(whole, group),
    shares: sharesOf(around, whole, group, recorded),
    ...(criteria.length > 0 && { criteria }),
    alternatives: alternatives(whole.step, whole.row, whole.solved, around.remember),
    tokens: tokenFacts(
      { ...whole, weights: whole.solved.weights, exists: whole.solved.advantages.exists },
      whole.solved.weighed === undefined ? undefined : (whole.solved.weighed.touched ?? {}),
    ),
  };
  return { ...parts, words: inWords(parts, whole.step, whole.refusal, recorded.row) };
}

/** Mean over the tokens that train, as the advantage is. */
function recordedAdvantage({ step, row }: View): number {
  const { advantage = null, advantages } = step.rows[row]!;
  const start = step.batch.offsets[row]!;
  const trained = (advantages ?? []).flatMap((value, i) =>
    value !== null && step.batch.mask[start + i] === 1 ? [fromWire(value)] : [],
  );
  return trained.length === 0
    ? fromWire(advantage)
    : trained.reduce((sum, value) => sum + value, 0) / trained.length;
}

type RecordedRollout = RecordedRow["row"];
const sameStep = (one: RecordedRollout, other: RecordedRollout): boolean =>
  one.step === other.step && (one.run ?? "") === (other.run ?? "");
const isOf = ({ use, admitted }: RecordedRollout, trains: boolean): boolean =>
  (use ?? "train") === "train" && (admitted !== false) === trains;

const wireOrNull = (value: number): MaybeNumber => (Number.isNaN(value) ? null : toWire(value));
const totalOf = ({ combined }: Scores, row: number): MaybeNumber =>
  combined.errored[row] === 1 ? null : wireOrNull(combined.total[row]!);

function siblingsOf({ step, solved }: View, group: readonly RecordedRow[]): WhySibling[] {
  const { scored, advantages } = solved;
  return group
    .map(({ row }): WhySibling => {
      const at = step.rows.indexOf(row);
      const failed = scored.rewards.terms.find(({ errors }) => errors.has(at));
      const reward = totalOf(scored, at);
      return {
        index: row.index,
        reward,
        advantage: wireOrNull(rowAdvantage(advantages, step.batch, at)),
        note:
          reward !== null
            ? null
            : failed === undefined
              ? "no term applies"
              : `${failed.name} failed: ${failed.errors.get(at)}`,
      };
    })
    .sort((one, other) => one.index - other.index);
}

/** Over the group where the group alone gives the same advantage, else over the rows of the step that have one. */
function sharesOf(
  around: Around,
  whole: View,
  group: readonly RecordedRow[],
  recorded: RecordedRow,
): Why["shares"] {
  const counted = (row: RecordedRollout): boolean =>
    !Number.isNaN(whole.solved.advantages.rows[whole.step.rows.indexOf(row)]!);
  const input = (view: View) => ({
    ...view,
    scored: view.solved.scored,
    old: view.solved.old,
    remember: around.remember,
  });
  if (whole.step.algorithm.takesRecorded || Number.isNaN(whole.advantage)) return termShares(input(whole));
  const alone = viewOf(
    around,
    group.filter(({ row }) => counted(row)),
    recorded,
    true,
  );
  const same = Math.abs(alone.advantage - whole.advantage) <= 1e-9 * Math.max(1, Math.abs(whole.advantage));
  return termShares(input(same ? alone : whole));
}
