import { formatFraction } from "../../../../shared/lib/format.ts";
import { fellBeyondChance, heldOutNames } from "../../../../shared/run/outcome.ts";
import type { EvidenceKind } from "../kind.ts";

export const evaluations: EvidenceKind = {
  id: "run-evaluation",
  see: (view) => {
    const measured = view.record.evaluations.filter(({ step }) => step >= view.span.from - 1);
    const [first, last] = [measured[0], measured.at(-1)];
    if (first === undefined || last === undefined) return [];
    const names = heldOutNames(last.metrics);
    const change = (name: string): string => {
      const [before, now] = [first.metrics[name], last.metrics[name]];
      const from = first === last || before === undefined ? "" : `${formatFraction(before)} → `;
      return `${name.slice("eval/".length)} ${from}${formatFraction(now)}`;
    };
    if (names.length === 0) return [];
    const about = {
      at: "evaluation",
      reads: [
        { path: "evaluation", except: ["every", "record", "pass_at"] },
        { path: "tasks" },
        { path: "reward.success" },
      ],
      metric: names[0]!,
    };
    const prompts = view.number("evaluation.prompts") ?? 1;
    const fell = names.filter((name) =>
      fellBeyondChance(first.metrics[name] ?? Number.NaN, last.metrics[name] ?? Number.NaN, prompts),
    );
    const steps = `steps ${Math.max(0, first.step)} to ${Math.max(0, last.step)}`;
    return [
      {
        ...about,
        level: "note",
        label: names.slice(0, 2).map(change).join(", "),
        message: `Held-out tasks, ${steps}: ${names.map(change).join(", ")}.`,
      },
      ...(fell.length === 0
        ? []
        : [
            {
              ...about,
              level: "diagnostic" as const,
              metric: fell[0]!,
              message: `On held-out tasks the run made the model worse (${steps}): ${fell.map(change).join(", ")}.`,
            },
          ]),
    ];
  },
};
