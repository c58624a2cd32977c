import type { StageView } from "../../config/check/model.ts";
import type { Choice, SlotName } from "../../core/declaration.ts";
import { ownFileProblem, problemReport } from "../ownFileProblem.ts";
import { firstTime, reportAt, type Rule } from "../rule.ts";

interface Named {
  readonly choice: Choice<SlotName>;
  readonly what: string;
  readonly path: readonly string[];
}

/** Environments and tools of the user's own, with where they are written. */
function namedBy({ config: { body } }: StageView): readonly Named[] {
  const played = body.tasks.flatMap(({ name, play }, at) =>
    play === undefined
      ? []
      : [{ choice: play, what: `the environment of \`${name}\``, path: ["tasks", String(at), "play"] }],
  );
  const tools = body.rollout.tools.map((choice, at) => ({
    choice,
    what: "a tool",
    path: ["rollout", "tools", String(at)],
  }));
  return [...played, ...tools].filter(({ choice }) => ["user", "python"].includes(choice.declaration.name));
}

/** The file of an environment or a tool exists and has the export; found by parsing, nothing is executed. */
export const ownFile: Rule = {
  id: "own-file",
  title: "Missing environment or tool",
  why: "`play: ./guess.ts` and an item of `rollout.tools` may name your own file, as `path` or `path:name`. The file is parsed, never executed: TypeScript and JavaScript for their exports, Python for its top-level names. A run would stop before its first step.",
  check(model) {
    const fresh = firstTime();
    for (const view of model.stages)
      for (const { choice, what, path } of namedBy(view)) {
        if (typeof choice.params["file"] !== "string" || !fresh(choice)) continue;
        const problem = ownFileProblem(choice, what, model.file);
        if (problem !== undefined)
          reportAt(model, view, ownFile, [[...path, "use"], path], problemReport(problem));
      }
  },
};
