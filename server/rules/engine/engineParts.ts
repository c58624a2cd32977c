import { trainers } from "../../../shared/run/trainers.ts";
import { isOwn, keyOf, type Rule } from "../rule.ts";

/** Of Gradus' own engine. */
const own = ["backend", "threads", "memory"] as const;

/** What is said of one engine is not said of another. */
export const engineParts: Rule = {
  id: "engine-parts",
  title: "Setting of another engine",
  why: "`engine.use` says who trains. `backend`, `threads` and `memory` set the engine of Gradus (`embedded`), and no other trainer reads them; settings of another trainer, by its own names, are in `engine.args`, e.g. `{ use_vllm: true }`. `embedded` reads none of them.\n\nRemove the key, or change `engine.use`.",
  check({ config, root, report, edits }) {
    const { use } = config.engine;
    const wrong = use === "embedded" ? (["args"] as const) : own;
    for (const key of wrong) {
      const at = keyOf(root, "engine", key);
      if (at === undefined || !isOwn(at)) continue;
      const message =
        use === "embedded"
          ? "`engine.args` are settings of another trainer, and the engine of Gradus trains: name the trainer in `engine.use`."
          : `\`engine.${key}\` sets the engine of Gradus, and ${trainers[use].name} trains: it would have no effect.`;
      report({
        rule: engineParts.id,
        message,
        key: `engine.${key}`,
        at,
        related: [{ at: keyOf(root, "engine", "use"), message: "who trains" }],
        fileFixes: [edits.remove(["engine", key], `Remove \`${key}\``)],
      });
    }
  },
};
