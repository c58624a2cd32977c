/** Asks the thread of experiments one question. */
import { oneAnswer } from "../../lib/threads/oneAnswer.ts";
import type { Experiment, Experimenter, Outcomes } from "./experiment.ts";

export const inThread: Experimenter = <Kind extends Experiment["kind"]>(
  asked: Extract<Experiment, { readonly kind: Kind }>,
): Promise<Outcomes[Kind]> =>
  oneAnswer<Outcomes[Kind]>({
    file: "experimentThread.mjs",
    name: "gradus-experiment",
    does: "compares runs",
    question: asked,
  });
