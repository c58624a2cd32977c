/** DAPO's dynamic sampling: OpenRLHF filters groups by the mean of `scores`, which agent.py makes the share of successes. */
import type { StageBody } from "../../../../core/config/resolved.ts";
import { decidingOrder } from "../../../../core/config/termFacts.ts";
import { nameOf } from "../../../lens/exportDraft.ts";
import type { OpenRlhfDraft } from "./draft.ts";

const key = "curriculum.admission";
/** Rewards that are 0 or 1, unless they give something in between for a part. */
const twoValued: ReadonlySet<string> = new Set(["exact_match", "numeric", "verdict", "equation"]);
/** Ways to combine that reward.py has. */
const combined: ReadonlySet<string> = new Set(["sum", "product", "max", "gate"]);

export function admission(body: StageBody, draft: OpenRlhfDraft): void {
  const { admission: chosen, refill } = body.curriculum;
  const name = nameOf(chosen);
  if (name === "none") return;
  if (!combined.has(nameOf(body.reward.combine)))
    return draft.miss(
      key,
      name,
      "Gradus combines the terms, so agent.py knows no success: none is rejected.",
    );
  const range = name === "nonzero_variance" ? varied(body) : banded(chosen.params, body);
  if (name !== "nonzero_variance" && name !== "success_band")
    return draft.miss(
      key,
      name,
      "OpenRLHF filters groups by their share of successes alone: none is rejected.",
    );
  if (range === undefined)
    return draft.miss(
      key,
      name,
      "OpenRLHF filters groups by their share of successes, which does not tell equal rewards: none is rejected.",
    );
  if (body.rollout.group < 2)
    return draft.miss(key, name, "OpenRLHF filters groups of two responses or more: none is rejected.");
  draft.set("algo.dynamic_filtering_enable", true);
  draft.set("algo.dynamic_filtering_range", [...range]);
  if (nameOf(refill) === "none")
    draft.miss("curriculum.refill", "none", "OpenRLHF generates until a step has all its groups.");
  draft.miss(
    key,
    name,
    "What replaces a rejected group is the next prompt of train.parquet: the prompts end before the steps do, and recorded rollouts are of the step that would have drawn them.",
    "nothing-trained",
  );
}

/** A group's rewards differ where it has successes and failures: so far as a reward is one or the other. */
function varied({ reward }: StageBody): readonly [number, number] | undefined {
  const terms = reward.terms.filter(({ weight }) => weight !== 0);
  const [only] = terms;
  if (only === undefined || terms.length > 1 || !decidingOrder(reward).includes(only)) return undefined;
  const { declaration, params } = only.term;
  const isPart = typeof params["partial"] === "number" && params["partial"] > 0;
  const { at_least: least } = reward.success;
  return twoValued.has(declaration.name) && !isPart && least > 0 && least <= 1 ? [0, 1] : undefined;
}

/** OpenRLHF's ends are no part of the band: shares of a group lie on whole numbers of successes. */
function banded(
  { low, high, inclusive }: StageBody["curriculum"]["admission"]["params"],
  { rollout: { group } }: StageBody,
): readonly [number, number] | undefined {
  if (typeof low !== "number" || typeof high !== "number") return undefined;
  if (inclusive !== true) return [low, high];
  // Half a success beyond an end that counts, no further share lies between.
  const half = 0.5 / group;
  const [first, last] = [Math.ceil(low * group - 1e-9), Math.floor(high * group + 1e-9)];
  return [first / group - half, last / group + half];
}
