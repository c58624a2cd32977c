/** What a curriculum's service decided (`curriculum/decisions.jsonl` of an exported project), as metrics of the run's steps. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject, objectOf } from "../../../../../shared/lib/json.ts";
import { fromWire, parseJson, toWire, wireOf } from "../../../../../shared/rollouts/rollouts.ts";
import { LineTail } from "../../../../lib/growing/lineTail.ts";
import { newestWrite, sliceBytes, type FeedPart } from "../feed.ts";

/** Next to the rollouts' folder, or in it. */
const placesOf = (folder: string): readonly string[] =>
  [dirname(folder), folder].map((place) => join(place, "curriculum", "decisions.jsonl"));

export class Decisions {
  private tail: LineTail | undefined;

  constructor(private readonly folder: string) {}

  /** Steps that have been decided since the last call. A step that was decided again stands in for it and for those after it. */
  next(): FeedPart[] {
    const found =
      this.tail === undefined ? placesOf(this.folder).find((file) => existsSync(file)) : undefined;
    if (found !== undefined) this.tail = new LineTail(found);
    const { tail } = this;
    if (tail === undefined) return [];
    const time = newestWrite([tail.file]) / 1000;
    let parts: FeedPart[] = [];
    for (const line of tail.next(sliceBytes).lines)
      for (const { step, values } of decidedIn(line)) {
        parts = parts.filter((one) => one.step < step);
        parts.push({ step, time, values });
      }
    return parts;
  }

  get files(): readonly string[] {
    return this.tail === undefined ? [] : [this.tail.file];
  }
}

/** Charts of arms as an embedded run logs them; where the line has only estimates, these. */
function decidedIn(text: string): Required<Pick<FeedPart, "step" | "values">>[] {
  let line: unknown;
  try {
    line = parseJson(text);
  } catch {
    return []; // a disk that was full
  }
  if (!isObject(line) || !Number.isInteger(line["step"])) return [];
  const logged = Object.entries(objectOf(line["metrics"])).filter(([name]) => name.startsWith("curriculum/"));
  const believed = Object.entries(objectOf(line["estimates"])).map(
    ([arm, value]) => [`curriculum/${arm}/estimate`, value] as const,
  );
  const values = (logged.length > 0 ? logged : believed).flatMap(([name, value]) => {
    const number = fromWire(wireOf(value));
    return Number.isNaN(number) ? [] : [[name, toWire(number)] as const];
  });
  // Trainers count from 1: the step that trains what was decided.
  const step = Number(line["trainer_step"] ?? Number(line["step"]) + 1);
  return [{ step, values: Object.fromEntries(values) }];
}
