/**
 * Brings the state in a checkpoint to the parts of the run that resumes from it. Nothing starts from zero silently: state
 * that no part takes up is an error that says what has changed.
 */
import { UserError } from "../../../shared/lib/errors.ts";
import type { Json } from "../../../shared/lib/json.ts";
import type { Saved } from "../../core/basics.ts";
import {
  differences,
  slotOf,
  slots,
  unshared,
  type Difference,
  type Identity,
  type Slot,
} from "./identity.ts";

/** What a checkpoint holds of the parts. */
interface SavedParts {
  readonly parts: Readonly<Record<string, Saved>>;
  /** undefined: of a version that named parts by a hash alone. */
  readonly identities: Readonly<Record<string, Identity>> | undefined;
  /** Place of the stage that the checkpoint is in. */
  readonly stage: number;
}
/** What the resumed run has. */
interface LiveParts {
  readonly identities: ReadonlyMap<string, Identity>;
  /** Names of those that have state, in the order in which they were made. */
  readonly stateful: readonly string[];
  /** In what the config differs from the one that the run began with. */
  readonly changes: () => readonly Difference[];
}

/** State without a part, and what the part would have to be. */
interface Unclaimed {
  readonly name: string;
  readonly slot: Slot;
  readonly stages: readonly string[];
  readonly changes: readonly Difference[];
}
interface Claims {
  /** State by the names of the parts that take it up. */
  readonly parts: Readonly<Record<string, Saved>>;
  readonly unclaimed: readonly Unclaimed[];
}

export function claims(saved: SavedParts, live: LiveParts): Claims {
  const taken = new Map(
    saved.identities === undefined ? byOrder(saved, live) : byMeaning(saved, saved.identities, live),
  );
  const used = new Set(taken.values());
  const unclaimed = Object.keys(saved.parts).flatMap((name): Unclaimed[] => {
    const slot = slotOf(name);
    if (slot === undefined || used.has(name) || isEmpty(saved.parts[name]!)) return [];
    const identity = saved.identities?.[name];
    // An earlier version kept what a resumed run had lost, with what it then learned.
    const own = live.stateful.filter((part) => slotOf(part) === slot);
    if (identity === undefined && own.length > 0 && own.every((part) => taken.get(part) === part)) return [];
    // Nothing that is still to come would ask for it.
    if (identity !== undefined && identity.last < saved.stage) return [];
    return [{ name, slot, stages: identity?.stages ?? [], changes: changesOf(slot, identity, live) }];
  });
  // In the order of the checkpoint: the next one is then the same, byte for byte, as without the resume.
  const parts = Object.entries(saved.parts).flatMap(([name, state]): [string, Saved][] =>
    slotOf(name) === undefined
      ? [[name, state]]
      : [...taken].flatMap(([part, from]): [string, Saved][] => (from === name ? [[part, state]] : [])),
  );
  return { parts: Object.fromEntries(parts), unclaimed };
}

/** By part of the run, the state that it takes up: its own by name, else the nearest of what means the same. */
function byMeaning(
  { parts }: SavedParts,
  identities: Readonly<Record<string, Identity>>,
  { identities: live }: LiveParts,
): [string, string][] {
  return [...live].flatMap(([name, identity]): [string, string][] => {
    if (parts[name] !== undefined) return [[name, name]];
    const fitting = Object.entries(identities)
      .filter(([other, { slot, about }]) => {
        return parts[other] !== undefined && slot === identity.slot && !differ(about, identity.about);
      })
      .map(([other, { about, stages }]) => ({
        other,
        // Stages keep their names; parts that mean the same are distinguished by them.
        shared: stages.filter((stage) => identity.stages.includes(stage)).length,
        distance: unshared(about, identity.about),
      }))
      .sort((a, b) => b.shared - a.shared || a.distance - b.distance);
    return fitting[0] === undefined ? [] : [[name, fitting[0].other]];
  });
}
const differ = (before: Json, now: Json): boolean => differences(before, now).length > 0;

/**
 * Names of earlier versions are hashes of everything, folders included. Where a config still means what it did, they
 * come in the order in which they were made.
 */
function byOrder({ parts }: SavedParts, { stateful, changes }: LiveParts): [string, string][] {
  const exact = stateful.filter((name) => parts[name] !== undefined);
  return [
    ...exact.map((name): [string, string] => [name, name]),
    ...slots.flatMap((slot): [string, string][] => {
      const of = (names: readonly string[]): string[] =>
        names.filter((name) => slotOf(name) === slot && !exact.includes(name));
      const [waiting, without] = [of(Object.keys(parts)), of(stateful)];
      if (waiting.length === 0 || waiting.length !== without.length) return [];
      if (changesIn(slot, changes()).length > 0) return [];
      return without.map((name, at) => [name, waiting[at]!]);
    }),
  ];
}

/** Keys of a config that each slot's parts are made of. */
const keysOf: Readonly<Record<Slot, readonly string[]>> = {
  generated: ["tasks"],
  curriculum: ["tasks", "curriculum"],
  algorithm: ["advantage"],
  start: ["tasks", "curriculum"],
  guidance: ["guidance"],
  replay: ["replay"],
  auxiliary: ["auxiliary"],
};
const changesIn = (slot: Slot, changes: readonly Difference[]): Difference[] =>
  changes.filter(({ path }) => {
    const [first = "", , third = ""] = path.split(".");
    // A stage's own: stages.<name>.<key>…; the list itself, where it is longer or shorter.
    return (
      keysOf[slot].includes(first) || (first === "stages" && (third === "" || keysOf[slot].includes(third)))
    );
  });

/** In what the nearest part differs from the one that wrote the state. */
function changesOf(slot: Slot, identity: Identity | undefined, live: LiveParts): readonly Difference[] {
  if (identity === undefined) return changesIn(slot, live.changes());
  const same = [...live.identities.values()].filter((one) => one.slot === slot);
  const own = same.filter(({ stages }) => stages.some((stage) => identity.stages.includes(stage)));
  return (own.length > 0 ? own : same)
    .map(({ about }) => differences(identity.about, about))
    .reduce<readonly Difference[]>(
      (least, one) => (least.length === 0 || one.length < least.length ? one : least),
      [],
    );
}

/** Of a method that remembers nothing. */
function isEmpty({ json, arrays = {} }: Saved): boolean {
  const bare = (value: Json): boolean =>
    value === null ||
    value === 0 ||
    value === false ||
    (typeof value === "object" && Object.values(value).every(bare));
  return bare(json) && Object.values(arrays).every((array) => array.every((one) => one === 0));
}

/** "the curriculum of stages a, b (curriculum.sampler.use was "uniform" and is "boltzmann")" */
export const unclaimedText = (unclaimed: readonly Unclaimed[]): string =>
  unclaimed
    .map(({ slot, stages, changes }) => {
      const of =
        stages.length === 0 ? "" : ` of ${stages.length === 1 ? "stage" : "stages"} ${stages.join(", ")}`;
      const why = changes.slice(0, 3).map(sentence).join("; ");
      return `${words[slot]}${of} (${why === "" ? "the config no longer has this part" : why})`;
    })
    .join(", ");

/** @param checkpoint its folder */
export function unclaimedError(
  checkpoint: string,
  authored: string,
  unclaimed: readonly Unclaimed[],
): UserError {
  return new UserError(
    `The checkpoint ${checkpoint} holds state that nothing in the config uses: ${unclaimedText(unclaimed)}. The run would continue with that state at its start values.`,
    {
      file: checkpoint,
      code: "checkpoint-unclaimed",
      action: `Put the config back to what it was (the run's own copy is ${authored}; a file that it extends, or a default, may have changed), then resume. To train on with the new config, start a new run with model.base: ${checkpoint}.`,
    },
  );
}
const words: Readonly<Record<Slot, string>> = {
  generated: "the tasks made in the run",
  curriculum: "the curriculum",
  algorithm: "the advantage's baseline",
  start: "the start states",
  guidance: "the guidance",
  replay: "the replay memory",
  auxiliary: "the auxiliary losses",
};
const sentence = ({ path, before, now }: Difference): string =>
  `${path} was ${JSON.stringify(before)} and is ${JSON.stringify(now)}`;
