import { teacherContextNames } from "../../core/blocks/teacherContext.ts";
import type { StageBody } from "../../core/config/resolved.ts";
import { eachRlStage, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** What a token weight says that its model has read: parameters of `evidence` and `contrast`. */
const namesIn = (params: Readonly<Record<string, unknown>>): string[] =>
  [params["shown"], params["right"], params["wrong"]]
    .flat()
    .filter((name): name is string => typeof name === "string");

/** Names of what entries of that model show. */
function shownTo(model: unknown, { kl }: StageBody): ReadonlySet<string | undefined> {
  const names = teacherContextNames(kl);
  return new Set(names.filter((_, at) => kl[at]!.model === model));
}

/** `wrong_sibling-2`, as `kl.shown` would say it. */
function written(name: string): string {
  const [, what, nth] = /^(\w+?)(?:-(\d+))?$/.exec(name) ?? [];
  return nth !== undefined && what?.endsWith("sibling") === true ? `{ what: ${what}, nth: ${nth} }` : name;
}

/** What a token weight compares is read by somebody. */
export const unshownHint: Rule = {
  id: "unshown-hint",
  title: "Token weight that reads what no KL entry shows",
  why: "`evidence` and `contrast` weigh tokens by how likely a model finds them after it has read more than the prompt: a solution, or another rollout of the group. An entry of `kl` with that model says what it reads (`shown`), and may have the coefficient 0. Without the entry the model has read nothing more: `evidence` counts every token alike, and with `contrast` no rollout trains.\n\nAdd the entry, or name what an entry shows. The second entry of a kind is called `wrong_sibling-2`, and so on.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    body.advantage.token_weights.forEach(({ declaration, params }, index) => {
      const path = ["advantage", "token_weights", String(index)];
      const shown = shownTo(params["model"], body);
      const missing = namesIn(params).filter((name) => !shown.has(name));
      if (missing.length === 0 || !isOwn(placeOf(view.body, ...path))) return;
      reportAt(model, view, unshownHint, [path], {
        severity: "warning",
        message: `\`${declaration.name}\` compares what \`${String(params["model"])}\` says after it has read ${missing.map((name) => `\`${name}\``).join(", ")}, but no \`kl\` entry of that model shows it: add \`{ model: ${String(params["model"])}, shown: ${written(missing[0]!)}, coefficient: 0 }\`.`,
        fileFixes: [
          model.edits.remove(
            pathIn(view, placeOf(view.body, ...path), "advantage", "token_weights", index),
            "Remove this token weight",
            false,
          ),
        ],
      });
    });
  }),
};
