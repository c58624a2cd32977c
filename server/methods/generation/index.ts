import type { Declaration } from "../../core/declaration.ts";
import { inherit } from "./answers/inherit.ts";
import { noAnswer } from "./answers/none.ts";
import { verifier } from "./answers/verifier.ts";
import { vote } from "./answers/vote.ts";
import { endpoint } from "./authors/endpoint.ts";
import { model } from "./authors/model.ts";
import { policy } from "./authors/policy.ts";
import { program } from "./authors/program.ts";
import { answersDiffer } from "./gates/answersDiffer.ts";
import { band } from "./gates/band.ts";
import { builds } from "./gates/builds.ts";
import { goldPasses } from "./gates/goldPasses.ts";
import { judges } from "./gates/judges.ts";
import { notTrivial } from "./gates/notTrivial.ts";
import { roundTrip } from "./gates/roundTrip.ts";
import { solvable } from "./gates/solvable.ts";
import { wording } from "./gates/wording.ts";
import { failures } from "./selectors/failures.ts";
import { neverLearned } from "./selectors/neverLearned.ts";
import { rewardRange } from "./selectors/rewardRange.ts";
import { successBand } from "./selectors/successBand.ts";
import { weakSkills } from "./selectors/weakSkills.ts";
import { concepts } from "./transforms/concepts.ts";
import { critique } from "./transforms/critique.ts";
import { diversify } from "./transforms/diversify.ts";
import { evolve } from "./transforms/evolve.ts";
import { feedback } from "./transforms/feedback.ts";
import { maskSpan } from "./transforms/maskSpan.ts";
import { recombine } from "./transforms/recombine.ts";
import { simplify } from "./transforms/simplify.ts";

export const taskSelectors: readonly Declaration<"task_selector">[] = [
  failures,
  neverLearned,
  successBand,
  rewardRange,
  weakSkills,
];
export const taskTransforms: readonly Declaration<"task_transform">[] = [
  simplify,
  diversify,
  evolve,
  recombine,
  concepts,
  maskSpan,
  critique,
  feedback,
];
export const taskAuthors: readonly Declaration<"task_author">[] = [program, policy, model, endpoint];
export const taskAnswers: readonly Declaration<"task_answer">[] = [inherit, verifier, vote, noAnswer];
export const taskGates: readonly Declaration<"task_gate">[] = [
  builds,
  wording,
  roundTrip,
  goldPasses,
  judges,
  solvable,
  notTrivial,
  band,
  answersDiffer,
];
