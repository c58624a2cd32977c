/** A small made-up world in sentences: towns, lands and people. It is in no text that a model has read, so it must be looked up. */
import { randomStream } from "../random.ts";

export interface Fact {
  /** What it is about. */
  readonly title: string;
  readonly text: string;
}

const [starts, middles, ends] = [
  ["Ba", "Ce", "Do", "Fi", "Gu", "Ha", "Ke", "Li", "Mo", "Na", "Pe", "Ru", "Si", "To", "Va", "Zu"],
  ["la", "me", "ni", "ro", "su", "ta", "vi", "ko"],
  ["ra", "lin", "mos", "dek", "ta", "nor", "sa", "vel"],
] as const;
const trades = ["baker", "painter", "doctor", "sailor", "weaver", "teacher", "smith", "farmer"] as const;
const [landCount, townCount, personCount] = [12, 100, 100] as const;

/** `next` of a town is a person, of a person a town, and so on: relations lead from one thing to another. */
interface Relation {
  readonly of: "town" | "person";
  /** What it leads to; undefined: to a word, which has no relations. */
  readonly to?: "town" | "person" | "land";
  /** `the mayor of X`. */
  readonly phrase: (thing: string) => string;
}

export type RelationName = "mayor" | "land" | "birthplace" | "trade";

export const relations: Readonly<Record<RelationName, Relation>> = {
  mayor: { of: "town", to: "person", phrase: (thing) => `the mayor of ${thing}` },
  land: { of: "town", to: "land", phrase: (thing) => `the land of ${thing}` },
  birthplace: { of: "person", to: "town", phrase: (thing) => `the birthplace of ${thing}` },
  trade: { of: "person", phrase: (thing) => `the trade of ${thing}` },
};

interface MadeWorld {
  readonly towns: readonly string[];
  readonly people: readonly string[];
  readonly facts: readonly Fact[];
  /** Where a relation leads from a thing. */
  readonly of: (thing: string, relation: RelationName) => string | undefined;
}

/** Different names, in an order of chance. */
function namesOf(): readonly string[] {
  const all = starts.flatMap((a) => middles.flatMap((b) => ends.map((c) => a + b + c)));
  const random = randomStream("made facts", "names");
  for (let i = all.length - 1; i > 0; i--) {
    const j = random.integer(i + 1);
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}

function make(): MadeWorld {
  const names = namesOf();
  const lands = names.slice(0, landCount);
  const towns = names.slice(landCount, landCount + townCount);
  const people = names.slice(landCount + townCount, landCount + townCount + personCount);
  const random = randomStream("made facts", "relations");
  const known = new Map<string, Partial<Record<RelationName, string>>>();
  towns.forEach((town, i) => {
    known.set(town, { mayor: people[i]!, land: lands[random.integer(landCount)]! });
  });
  for (const person of people)
    known.set(person, {
      birthplace: towns[random.integer(townCount)]!,
      trade: trades[random.integer(trades.length)]!,
    });
  const of = (thing: string, relation: RelationName): string | undefined => known.get(thing)?.[relation];
  const facts = [
    ...towns.map((title) => ({
      title,
      text: `${title} is a town in the land of ${of(title, "land")!}. Its mayor is ${of(title, "mayor")!}.`,
    })),
    ...people.map((title) => ({
      title,
      text: `${title} was born in ${of(title, "birthplace")!} and is a ${of(title, "trade")!}.`,
    })),
  ];
  return { towns, people, facts, of };
}

let world: MadeWorld | undefined;
/** The same in every process. */
export const madeFacts = (): MadeWorld => (world ??= make());
