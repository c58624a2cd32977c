import { adapterOf } from "../../adapters.ts";
import { trlRule } from "../../trlRule.ts";

/** Ten times what published runs use at most, and a hundredth of what they use at least. */
const bands = {
  whole: { least: 1e-8, most: 5e-5, usual: "1e-6 to 5e-6" },
  adapter: { least: 1e-7, most: 1e-3, usual: "1e-5 to 1e-4" },
};

export const learningRate = trlRule({
  id: "trl-learning-rate",
  severity: "warning",
  title: "Unusual learning rate",
  why: "Policy gradients are noisy, so rates are far below those of supervised training: 1e-6 to 5e-6 if the whole model trains, 1e-5 to 1e-4 if an adapter does. Above ten times as much, runs collapse within a few dozen steps; far below, nothing moves. This is a convention, not a limit of TRL's.",
  check(model) {
    const [at, rate] = [model.written("learning_rate"), model.number("learning_rate")];
    if (at === undefined || rate === undefined) return [];
    const adapter =
      adapterOf(model) !== undefined ||
      (model.document.form === "python" && /peft|lora/i.test(model.document.text));
    const { least, most, usual } = adapter ? bands.adapter : bands.whole;
    if (rate >= least && rate <= most) return [];
    const kind = adapter ? "an adapter is trained" : "the whole model is trained";
    const message = `\`learning_rate\` is ${at.text}, far ${rate > most ? "above" : "below"} what is used where ${kind}: ${usual}.`;
    return [{ at, message }];
  },
});
