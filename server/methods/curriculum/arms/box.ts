/** The box of an environment's parameters whose points are arms. */
import { UserError } from "../../../../shared/lib/errors.ts";
import type { Knob } from "../../../core/slots/tasks.ts";

export type Ranges = Readonly<Record<string, readonly [number, number]>>;

/** A task source and its parameters that can vary; undefined: none. */
export interface Varied {
  readonly name: string;
  readonly knobs: readonly Knob[] | undefined;
}

/**
 * The named parameters, in ranges that the source allows; without names the first, which is the difficulty.
 * @throws UserError where there is no such box
 */
export function boxOf(sources: readonly Varied[], ranges: Ranges): Knob[] {
  const [one, ...others] = sources;
  const knobs = one?.knobs;
  if (one === undefined || others.length > 0 || knobs === undefined)
    throw new UserError(
      others.length > 0
        ? `parameters of one environment can be arms, and there are ${sources.length} tasks`
        : `${one?.name ?? "the tasks"}: there are no parameters that could vary`,
      {
        code: "arms-parameters",
        action:
          "Leave one task whose environment makes its tasks (countdown, arithmetic, reverse_text), or choose other arms.",
      },
    );
  const chosen = Object.entries(ranges);
  if (chosen.length === 0) return knobs.slice(0, 1);
  return chosen.map(([key, range]) => knobIn(one.name, knobs, key, range));
}

function knobIn(
  name: string,
  knobs: readonly Knob[],
  key: string,
  [low, high]: readonly [number, number],
): Knob {
  const knob = knobs.find((one) => one.name === key);
  if (knob !== undefined && low < high && low >= knob.low && high <= knob.high) return { ...knob, low, high };
  const known = knobs.map((one) => `${one.name} (${one.low} to ${one.high})`).join(", ");
  throw new UserError(
    knob === undefined
      ? `${name} has no parameter ${key} that could vary`
      : `the range of ${key}, ${low} to ${high}, does not lie in what ${name} can make`,
    { code: "arms-parameters", action: `It has: ${known}.` },
  );
}
