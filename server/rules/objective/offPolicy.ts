import type { StageBody } from "../../core/config/resolved.ts";
import { eachRlStage, isOwn, pathIn, placeOf, reportAt, type Rule } from "../rule.ts";

/** What of a stage trains on rollouts of older weights. */
function olderBy({
  update,
  replay,
}: StageBody): { readonly words: string; readonly path: readonly string[] } | undefined {
  if (replay.source.declaration.name === "window")
    return { words: "`replay` brings back rollouts of earlier weights", path: ["replay"] };
  if (update.epochs > 1)
    return {
      words: `the ${update.epochs} passes of \`update.epochs\` move the policy away from the one that generated the rollouts`,
      path: ["update", "epochs"],
    };
  return undefined;
}

interface Uncorrected {
  readonly why: string;
  /** The ratio's numerator that would make up for it. */
  readonly from: "now" | "proximal";
}

/** Why the loss does not make up for it; undefined where it does. */
function uncorrected({ objective, replay, update }: StageBody): Uncorrected | undefined {
  const replayed = replay.source.declaration.name === "window";
  const weighs = (...from: readonly string[]): boolean =>
    objective.correction.some(
      ({ declaration, params }) =>
        ["truncate", "mask"].includes(declaration.name) &&
        from.includes(String(params["numerator"])) &&
        ["behaviour", "sampled"].includes(String(params["denominator"])),
    );
  if (objective.loss.declaration.name === "reinforce")
    return weighs("now") || (update.epochs === 1 && weighs("proximal"))
      ? undefined
      : { why: "`reinforce` has no ratio to weigh them", from: "now" };
  if (objective.loss.params["anchor"] === "proximal" && replayed && !weighs("proximal"))
    return { why: "with `anchor: proximal` the ratio begins at this step's weights", from: "proximal" };
  return undefined;
}

/** Rollouts of older weights are weighed by how likely they are now. */
export const offPolicy: Rule = {
  id: "off-policy",
  title: "Off-policy rollouts without importance correction",
  why: "The policy gradient is an expectation over rollouts of the current policy. Rollouts of older weights need importance weights: a ratio to the weights that generated them, inside the objective (`clipped`, `cispo` with `anchor: behaviour`) or in front of it (`objective.correction` with `numerator: now` or `proximal`; its default, `behaviour` over `sampled`, only corrects for what the sampler filtered). Without them the gradient is biased, and the more so the older the rollouts are (Hilton et al., Batch size-invariance for policy optimization, for the proximal anchor).\n\nChoose an objective with a ratio, add a correction, or train only once on fresh rollouts.",
  check: eachRlStage((view, model) => {
    const { body } = view.config;
    const [older, lack] = [olderBy(body), uncorrected(body)];
    if (older === undefined || lack === undefined) return;
    const correction = `{ use: truncate, numerator: ${lack.from}, denominator: behaviour }`;
    const paths = [older.path, ["objective", "anchor"], ["objective"]];
    if (!paths.some((path) => isOwn(placeOf(view.body, ...path)))) return;
    reportAt(model, view, offPolicy, paths, {
      severity: "warning",
      message: `Here ${older.words}, and ${lack.why}, so the gradient is biased. Add the correction \`${correction}\`, or choose an objective with a ratio to the behaviour policy.`,
      related: [{ at: placeOf(view.body, "objective"), message: "the objective" }],
      fileFixes: [
        body.objective.correction.length > 0
          ? undefined
          : model.edits.set(
              pathIn(view, placeOf(view.body, "objective"), "objective", "correction"),
              `[${correction}]`,
              "Add the correction: truncated importance sampling",
            ),
      ],
    });
  }),
};
