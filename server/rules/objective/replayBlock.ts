import { eachRlStage, pathIn, reportAt, type Rule } from "../rule.ts";
import type { ReplayConfig } from "../../core/config/resolved.ts";

/** What of a replay block has no effect, or contradicts itself. */
function problemOf({
  source,
  admission,
  select,
  draw,
}: ReplayConfig):
  | { readonly key: string; readonly message: string; readonly severity: "warning" | "error" }
  | undefined {
  const [kind, kept] = [source.declaration.name, admission.declaration.name];
  if (kind === "none" && select.declaration.name === "none")
    return {
      key: "select",
      severity: "error",
      message:
        "`replay.select: none` lets only replayed rollouts train, but nothing is replayed: name a source, e.g. `replay: { use: file, path: … }`.",
    };
  if (kept === "leftovers" && select.declaration.name === "all" && kind === "window")
    return {
      key: "admission",
      severity: "error",
      message:
        "`replay.admission: leftovers` keeps what `replay.select` leaves out, but `select: all` leaves nothing out: choose a selection.",
    };
  if (kind === "window" && source.params["burst"] === true && draw.declaration.name !== "uniform")
    return {
      key: "draw",
      severity: "warning",
      message: "With `burst` everything that is kept is replayed at once, so `replay.draw` is not read.",
    };
  return undefined;
}

export const replayBlock: Rule = {
  id: "replay",
  title: "Replay that contradicts itself",
  why: "With `select: none` only replayed rollouts train, so there must be a source of them. What is kept for later steps (`admission`), which of a step's rollouts train (`select`) and how kept ones are drawn (`draw`) depend on one another: there are leftovers only if the selection leaves some out, and with `burst` everything that is kept is replayed, so nothing is drawn.",
  check: eachRlStage((view, model) => {
    const problem = problemOf(view.config.body.replay);
    if (problem === undefined) return;
    const { key, message, severity } = problem;
    reportAt(model, view, replayBlock, [["replay", key, "use"], ["replay", key], ["replay"]], (at) => ({
      key: `replay.${key}`,
      severity,
      message,
      ...(severity === "warning" ? { tags: ["unnecessary"] } : {}),
      fileFixes: [model.edits.remove(pathIn(view, at, "replay", key), `Remove \`${key}\``)],
    }));
  }),
};
