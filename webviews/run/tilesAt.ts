/** The numbers above the charts at the cursor's step: pure. The same tiles in the same order as those of the run's end. */
import { formatCount, formatFraction, formatNumber, formatSeconds, plural } from "../../shared/lib/format.ts";
import { evaluationColumn, type RunView } from "./models.ts";
import type { Tile } from "./tile.ts";

const said = (step: number): string => `step ${formatCount(step)}`;

export function tilesAt(view: RunView, step: number): readonly Tile[] {
  const { series, run } = view;
  const at = (metric: string): number | null => series.near(metric, step);
  const [reward, loss] = [at("reward/total"), at("update/loss")];
  const first =
    reward === null && loss !== null
      ? { label: "Loss", value: formatNumber(loss), note: said(step) }
      : {
          label: "Reward",
          value: formatNumber(reward),
          note: scoredNote(at("rollout/scored"), at("rollout/count"), step),
        };
  const [silent, mixed, drawn] = [at("groups/zero_advantage"), at("groups/mixed"), at("groups/drawn")];
  const teach = silent === null ? mixed : 1 - silent;
  const [seconds, tokens] = [at("time/total"), at("tokens/generated")];
  return [
    first,
    passAt(view, step),
    teach === null || drawn === null || run.group === null
      ? { label: "Effective batch", value: formatFraction(teach), note: "of groups have a signal" }
      : {
          label: "Effective batch",
          value: formatNumber(Math.round(teach * drawn) * run.group),
          note: `of ${formatNumber(drawn * run.group)} rollouts, ${said(step)}`,
        },
    {
      label: "Truncated",
      value: formatFraction(at("rollout/truncated")),
      note: `mean length ${formatNumber(at("rollout/length"))} tokens`,
    },
    {
      label: "Step time",
      value: formatSeconds(seconds),
      note:
        seconds === null || tokens === null || seconds === 0
          ? said(step)
          : `${formatNumber(tokens / seconds)} tokens per second`,
    },
    errorsAt(view, step),
  ];
}

const scoredNote = (scored: number | null, count: number | null, step: number): string =>
  scored === null || count === null || scored >= count
    ? said(step)
    : `${formatNumber(scored)} of ${formatNumber(count)} scored, ${said(step)}`;

/** Of the last evaluation before: there is none in between. */
function passAt({ evaluations }: RunView, step: number): Tile {
  const label = "Held-out pass@1";
  const { steps, values } = evaluationColumn(evaluations, "eval/pass@1");
  const place = steps.findLastIndex((one) => one <= step);
  const [on, value] = [steps[place], values[place]];
  if (on === undefined || value == null) return { label, value: "–", note: "not evaluated before this step" };
  return { label, value: formatFraction(value, 1), note: `evaluated at ${said(on)}` };
}

function errorsAt({ series }: RunView, step: number): Tile {
  const failed = series.names
    .filter((name) => /^reward\/.+\/errors$/.test(name))
    .reduce((sum, name) => sum + (series.near(name, step) ?? 0), 0);
  return {
    label: "Errors",
    value: formatNumber(failed),
    note: failed === 0 ? `none at ${said(step)}` : `${plural(Math.round(failed), "rollout")} not scored`,
    ...(failed > 0 ? { tone: "error" as const } : {}),
  };
}
