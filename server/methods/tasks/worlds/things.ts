/** The closed world of twenty questions: things, and what is true of each. No two have the same facts. */

const list = (text: string): readonly string[] => text.split(" ");

/** By fact: the things of which it is true. */
const table: Readonly<Record<string, readonly string[]>> = {
  alive: list(
    "dog cat horse cow elephant goldfish salmon whale sparrow eagle duck bee ant frog oak rose carrot apple seaweed cactus",
  ),
  "an animal": list("dog cat horse cow elephant goldfish salmon whale sparrow eagle duck bee ant frog"),
  "a pet": list("dog cat goldfish"),
  "able to fly": list("sparrow eagle duck bee plane kite"),
  "found in water": list("goldfish salmon whale duck frog seaweed boat anchor"),
  "bigger than a person": list("horse cow elephant whale oak car train plane boat"),
  "smaller than a hand": list("goldfish sparrow bee ant frog rose apple needle coin ring cheese"),
  "something to eat": list("salmon duck carrot apple bread cheese seaweed cow"),
  "made of metal": list("hammer knife needle coin ring car bicycle train plane anchor"),
  "a tool": list("hammer knife needle"),
  "a vehicle": list("car bicycle train plane boat"),
  "something with legs": list("dog cat horse cow elephant sparrow eagle duck bee ant frog chair table"),
  "found in a house": list(
    "dog cat goldfish cactus apple bread cheese hammer knife needle chair table coin ring",
  ),
  "something to wear": list("ring hat"),
  "something with a tail": list("dog cat horse cow elephant goldfish salmon whale sparrow eagle duck kite"),
  wild: list("elephant salmon whale sparrow eagle ant frog oak seaweed"),
  "something with a trunk": list("elephant oak"),
  "something that barks": list("dog"),
  "something with wheels": list("car bicycle train plane"),
  "something that burns petrol": list("car"),
  sharp: list("knife needle cactus rose"),
  "something to sit on": list("chair horse"),
  round: list("coin ring apple"),
};

export const facts: readonly string[] = Object.keys(table);
export const things: readonly string[] = [...new Set(Object.values(table).flat())].sort();

export const isTrue = (fact: string, thing: string): boolean => table[fact]?.includes(thing) === true;
