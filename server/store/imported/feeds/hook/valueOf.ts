import { parseJson } from "../../../../../shared/rollouts/rollouts.ts";

/** undefined: it is no JSON. */
export function valueOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined; // two processes of one name, or a disk that was full
  }
}
