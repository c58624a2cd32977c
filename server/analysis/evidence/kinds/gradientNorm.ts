import { formatNumber, plural } from "../../../../shared/lib/format.ts";
import type { EvidenceKind } from "../kind.ts";
import { median } from "../numbers.ts";
import type { MetricPoints } from "../record.ts";

/** So many times the median of the steps before it. */
const explosion = 20;
const [before, least] = [50, 10];

interface Spike {
  readonly step: number;
  readonly value: number;
  readonly usual: number;
}

function spikes({ steps, values }: MetricPoints): Spike[] {
  const found: Spike[] = [];
  const usual: number[] = [];
  values.forEach((value, index) => {
    const recent = usual.slice(-before);
    // The median is at least the least: that alone decides nearly every step.
    if (Number.isFinite(value) && value <= explosion * Math.min(...recent)) return void usual.push(value);
    const middle = recent.length < least ? Number.NaN : median(recent);
    if (!Number.isFinite(value) || value > explosion * middle)
      found.push({ step: steps[index]!, value, usual: middle });
    else usual.push(value);
  });
  return found;
}

export const gradientNorm: EvidenceKind = {
  id: "run-gradient-norm",
  see: (view) => {
    const found = spikes(view.points("update/grad_norm"));
    const [first] = found;
    if (first === undefined) return [];
    const clip = view.number("update.optimizer.clip_norm");
    const size = Number.isFinite(first.value)
      ? `${formatNumber(first.value)}, after about ${formatNumber(first.usual)} before`
      : "not a finite number";
    const more =
      found.length === 1
        ? ""
        : ` It did so in ${plural(found.length, "step")}, most recently in step ${found.at(-1)!.step}.`;
    const held =
      clip === undefined || !Number.isFinite(first.value) ? "" : ` \`clip_norm\` cut it to ${clip}.`;
    return {
      level: "diagnostic",
      at: view.number("update.optimizer.lr") === undefined ? "update.optimizer" : "update.optimizer.lr",
      reads: [{ path: "update.optimizer" }],
      metric: "update/grad_norm",
      message: `The gradient norm exploded at step ${first.step}: ${size}.${held}${more}`,
      rollouts: { step: first.step, where: `use == "train" && admitted == true` },
    };
  },
};
