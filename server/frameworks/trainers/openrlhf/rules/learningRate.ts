import { openrlhfRule } from "../openrlhfRule.ts";

const bands = {
  whole: { least: 1e-8, most: 5e-5, usual: "1e-6 to 5e-6" },
  adapter: { least: 1e-7, most: 1e-3, usual: "1e-5 to 1e-4" },
};

export const learningRate = openrlhfRule({
  id: "openrlhf-learning-rate",
  severity: "warning",
  title: "Unusual learning rate",
  why: "Policy gradients are noisy, so rates are far below those of supervised training: 1e-6 to 5e-6 if the whole model trains, 1e-5 to 1e-4 if an adapter does. Above ten times as much, runs collapse within a few dozen steps; far below, nothing moves. This is a convention, not a limit of OpenRLHF's.",
  check(flags) {
    const [at, value] = [flags.written("actor.adam.lr"), flags.number("actor.adam.lr")];
    if (at === undefined || value === undefined) return [];
    const adapter = (flags.number("ds.lora.rank") ?? 0) > 0;
    const { least, most, usual } = adapter ? bands.adapter : bands.whole;
    if (value >= least && value <= most) return [];
    const kind = adapter ? "an adapter is trained" : "the whole model is trained";
    const message = `\`${flags.name("actor.adam.lr")}\` is ${at.text}, far ${value > most ? "above" : "below"} the usual rate where ${kind}: ${usual}.`;
    return [{ at, message }];
  },
});
