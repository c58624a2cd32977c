/** Which of a trainer's settings wrote a value of the converted config: what is wrong with it is said at that line. */
import type { Range } from "../../../lib/lines.ts";
import type { ConvertedFrom } from "../../lens/types.ts";
import { converters } from "../../trainers/converters.ts";

/** undefined where the file does not set it: it is a default of the framework. */
export function placeOf(
  framework: ConvertedFrom,
  places: ReadonlyMap<string, Range>,
  path: string,
): Range | undefined {
  const [, ...keys] = converters[framework].places.find(([pattern]) => pattern.test(path)) ?? [];
  return keys.map((key) => places.get(key)).find((place) => place !== undefined);
}
