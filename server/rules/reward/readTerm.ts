import { neededBy, readsOf } from "../../core/config/termFacts.ts";
import { unknownName } from "../../config/check/report.ts";
import { eachStage, reportAt, type Rule } from "../rule.ts";

/** A term that reads another names one of the same stage, and not itself. */
export const readTerm: Rule = {
  id: "read-term",
  title: "Reward term that reads a missing term, or itself",
  why: "Some reward terms read what another term gave: `brier` whether the response is correct, `length` with `shape: cosine` the same, `boost_if_low` a weak judge's score. The term that is read is scored first, so it has to be a term of the same stage, and it must not read the reader, directly or through others.",
  check: eachStage((view, model) => {
    const { reward } = view.config.body;
    const known = reward.terms.map(({ name }) => name);
    for (const term of reward.terms) {
      const path = ["reward", "terms", term.name];
      for (const name of readsOf(term)) {
        if (name === undefined || known.includes(name)) continue;
        const key = Object.entries(term.term.params).find(([, value]) => value === name)?.[0] ?? "of";
        reportAt(model, view, readTerm, [[...path, key], path], (at) => {
          const { hint, fixes } = unknownName(
            name,
            known.filter((other) => other !== term.name),
            at,
          );
          const message = `There is no reward term \`${name}\` that \`${term.name}\` could read. ${hint}`;
          return { key: `reward.terms.${term.name}.${key}`, message, fixes };
        });
      }
      const needs = neededBy(term, reward);
      if (needs.has(term.name))
        reportAt(model, view, readTerm, [path], {
          key: `reward.terms.${term.name}`,
          message: `\`${term.name}\` reads its own value${circleOf(term.name, needs)}. Name a term that reads no other.`,
        });
      if (readsOf(term).includes(undefined) && needs.size === 0)
        reportAt(model, view, readTerm, [path], {
          key: `reward.terms.${term.name}`,
          message: `\`${term.name}\` reads whether a response is correct, and no other term says so. Add one, with \`weight: 0\` where it is not to count by itself.`,
        });
    }
  }),
};

function circleOf(name: string, needs: ReadonlySet<string>): string {
  const others = [...needs].filter((other) => other !== name);
  return others.length === 0 ? "" : `, through ${others.map((other) => `\`${other}\``).join(" and ")}`;
}
