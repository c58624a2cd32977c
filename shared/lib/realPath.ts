import { realpathSync } from "node:fs";

/** How the system is asked: a test gives its own. */
interface Asked {
  (path: string): string;
  native(path: string): string;
}

/**
 * The one spelling of what is there: without links, and in the letters of the disk, where theirs does not matter (Windows, a Mac).
 * A key of a file or folder is made of this; Node's own way keeps the letters that it is given.
 * @throws where nothing is there
 */
export function realPath(path: string, ask: Asked = realpathSync): string {
  try {
    return ask.native(path);
  } catch {
    return ask(path); // A drive in memory on Windows answers this one only; what is not there throws here.
  }
}
