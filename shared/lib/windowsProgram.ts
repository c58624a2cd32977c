import { join } from "node:path";

/** A program of Windows itself. By a bare name the working folder is searched first, and a folder of somebody's may hold one. */
export const windowsProgram = (...path: readonly string[]): string =>
  join(process.env["SystemRoot"] ?? "C:\\Windows", "System32", ...path);
