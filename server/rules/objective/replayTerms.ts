import { basename, resolve } from "node:path";
import { datasetLines } from "../../core/datasetLines.ts";
import type { ConfigModel, StageView } from "../../config/check/model.ts";
import { eachRlStage, reportAt, type Rule } from "../rule.ts";

/** Rows of a log hold a number or more for each token: its first lines are longer than a dataset's. */
const bytes = 2 * 1024 * 1024;

/** Terms that scored the first rows of a log; undefined: it was not read, or its rows have no terms. */
function termsOf(path: string): ReadonlySet<string> | undefined {
  const rows = (datasetLines(path, bytes) ?? []).flatMap(({ row }) => (row === undefined ? [] : [row]));
  const named = rows.map(({ rewards, errors }) => [...keysOf(rewards), ...keysOf(errors)]);
  // A row without terms counts by its whole reward, whatever the terms' names.
  return rows.length === 0 || named.some((names) => names.length === 0) ? undefined : new Set(named.flat());
}

const keysOf = (value: unknown): string[] =>
  typeof value === "object" && value !== null ? Object.keys(value) : [];

const list = (names: Iterable<string>): string => [...names].map((name) => `\`${name}\``).join(", ");

/** The terms that a log names reward its replayed rollouts. */
export const replayTerms: Rule = {
  id: "replay-terms",
  title: "Rollout log whose reward terms have other names",
  why: "`replay: { use: file }` rewards a recorded rollout with the values that its log has for the config's reward terms (`rewards`, by name). A term that the log does not have adds nothing. If the log has none of them, no rollout has a reward, and nothing of the log trains. This rule reads the first lines of the log (up to 100 in its first 2 MiB). Give the terms the log's names, or let the config's own terms score the responses: `replay.rescore: { use: recomputed, terms: again }`. With `rescore: recorded` the log's advantages train, and the names of terms do not matter.",
  check: eachRlStage((view, model) => {
    check(model, view);
  }),
};

function check(model: ConfigModel, view: StageView): void {
  const { replay, reward } = view.config.body;
  const { source, rescore } = replay;
  const { path } = source.params;
  const reads = rescore.declaration.name !== "recorded" && rescore.params["terms"] !== "again";
  if (source.declaration.name !== "file" || typeof path !== "string" || !reads) return;
  const logged = termsOf(resolve(source.folder, path));
  const own = reward.terms.filter(({ weight }) => weight !== 0).map(({ name }) => name);
  const lacking = own.filter((name) => logged?.has(name) === false);
  if (logged === undefined || lacking.length === 0) return;
  const none = lacking.length === own.length;
  const message = none
    ? `Nothing of \`${basename(path)}\` can train: its rollouts were scored by ${list(logged)}, but the config's terms are ${list(own)}. Give the terms the log's names, or score the responses again with \`replay.rescore: { use: recomputed, terms: again }\`.`
    : `\`${basename(path)}\` has no value of ${list(lacking)}, so only ${list(own.filter((name) => logged.has(name)))} rewards its rollouts. Score the responses again with \`replay.rescore: { use: recomputed, terms: again }\`.`;
  reportAt(model, view, replayTerms, [["replay", "path"], ["replay"]], {
    severity: none ? "error" : "warning",
    message,
    fileFixes: [
      model.edits.set(
        ["replay", "rescore"],
        "{ use: recomputed, terms: again }",
        "Score the log's responses with the config's own terms",
      ),
    ],
  });
}
