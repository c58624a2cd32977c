/** Why a parameter of a sweep has no values to try. Shared by the rules of sweeps. */
import { segments } from "../../config/address.ts";
import type { SweepConfig, SweepParameter } from "../../core/blocks/sweep.ts";

interface ParameterProblem {
  /** The key below the parameter that it is about; undefined: the parameter. */
  readonly key?: "min" | "max" | "scale" | "step";
  readonly message: string;
  /** It can go. */
  readonly idle?: true;
}

/** Keys that are no choice between configs, with what to do instead. */
const refused: Readonly<Record<string, string>> = {
  seed: "`sweep.seeds` gives each combination its seeds.",
  name: "A name changes nothing of a run.",
  extends: "Sweep the keys in which the parents differ.",
  sweep: "A sweep has no other sweep in it.",
  evaluation: "Runs that are measured differently cannot be ranked.",
};

export function parameterProblem(
  parameter: SweepParameter,
  method: SweepConfig["method"],
): ParameterProblem | undefined {
  const { key, values } = parameter;
  const reason = refused[segments(key)[0] ?? ""];
  if (reason !== undefined)
    return { message: `\`${key}\` cannot be swept. ${reason} Remove it.`, idle: true };
  const ranged = (["min", "max", "scale", "step"] as const).find((one) => parameter[one] !== undefined);
  if (values === undefined) return rangeProblem(parameter, method);
  return ranged === undefined
    ? undefined
    : {
        key: ranged,
        idle: true,
        message: `\`${key}\` has \`values\`, so \`${ranged}\` says nothing. Remove one of them.`,
      };
}

function rangeProblem(
  { key, min, max, scale, step }: SweepParameter,
  method: SweepConfig["method"],
): ParameterProblem | undefined {
  if (min === undefined || max === undefined)
    return { message: `\`${key}\` needs \`values\`, or both \`min\` and \`max\`.` };
  if (min >= max)
    return { key: "max", message: `\`${key}\`: \`max\` ${max} must be larger than \`min\` ${min}.` };
  if (step !== undefined && step > max - min)
    return { key: "step", message: `\`${key}\`: \`step\` ${step} leads past \`max\` ${max}: write less.` };
  if (scale === "log" && min <= 0)
    return {
      key: "min",
      message: `\`${key}\`: with \`scale: log\`, \`min\` must be above 0, not ${min}.`,
    };
  if (method === "grid" && step === undefined)
    return {
      message: `\`${key}\`: a grid needs \`values\`, or a \`step\` between \`min\` and \`max\`. Add \`step\`, or take \`method: random\`.`,
    };
  if (method === "grid" && scale === "log")
    return {
      key: "scale",
      message: `\`${key}\`: a grid goes from \`min\` to \`max\` in equal steps. Write the \`values\`, or take \`method: random\`.`,
    };
  return undefined;
}
