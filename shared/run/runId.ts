/**
 * Ids of runs. An id is the name of a folder, so one that comes from outside (a request, a table, a file, a command line)
 * counts only when it can be nothing else: no separators, no leading dot, of bounded length.
 */
import { z } from "zod";

const pattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/;

/** A name that every object has (`__proto__`, `constructor`) is none: ids are keys of objects, too. */
export const isRunId = (text: string): boolean => pattern.test(text) && !(text in Object.prototype);

const error = "a run's id has 1 to 200 of the characters A–Z a–z 0–9 . _ - and does not begin with a dot";
export const runIdSchema = z.string().regex(pattern, { error }).refine(isRunId, { error });
