import { formatNumber } from "../../../../shared/lib/format.ts";
import { isObject } from "../json.ts";
import { enough, type EvidenceKind, type Sighting } from "../kind.ts";
import { finite, lastWhere } from "../numbers.ts";
import type { RunView } from "../view.ts";

/** coefficient · divergence below which a term moves nothing that float32 would keep next to a loss of about 1. */
const negligible = 1e-6;
/** Nats a token from which on the policy is another model. */
const far = 10;

function ofTerm(view: RunView, model: string, coefficient: number | undefined, index: number): Sighting[] {
  const metric = `policy/kl/${model}`;
  const points = view.points(metric);
  const values = finite(points);
  if (values.length < enough) return [];
  const most = Math.max(...values);
  const about = { at: `kl.${index}`, reads: [{ path: `kl.${index}` }], metric };
  const over = view.over(values.length);
  const peak = lastWhere(points, (value) => value === most)?.step;
  if (most > far)
    return [
      {
        ...about,
        level: "diagnostic",
        message: `The divergence from \`${model}\` reached ${formatNumber(most)} nats per token at step ${peak}: the coefficient is too small to hold the policy back.`,
      },
    ];
  if (coefficient !== undefined && coefficient > 0 && coefficient * most < negligible)
    return [
      {
        ...about,
        level: "diagnostic",
        message: `The divergence from \`${model}\` was never above ${formatNumber(most)} nats per token in ${over}: with coefficient ${coefficient} it adds nothing to the loss.`,
      },
    ];
  return [
    {
      ...about,
      level: "note",
      label: `at most ${formatNumber(most)} nats`,
      message: `The divergence from \`${model}\` was never above ${formatNumber(most)} nats per token in ${over} (step ${peak}); ${formatNumber(values.at(-1))} in the last.`,
    },
  ];
}

export const kl: EvidenceKind = {
  id: "run-kl",
  see: (view) => {
    const terms = view.value("kl");
    if (!Array.isArray(terms)) return [];
    return terms.flatMap((term, index) => {
      if (!isObject(term)) return [];
      const { model, coefficient } = term;
      return typeof model === "string"
        ? ofTerm(view, model, typeof coefficient === "number" ? coefficient : undefined, index)
        : [];
    });
  },
};
