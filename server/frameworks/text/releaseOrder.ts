/** Which of two releases is the older, and which of those that are known stands for one. */

/** Without what follows the three numbers. */
const plain = (version: string): string => /^\d+(\.\d+)*/.exec(version)?.[0] ?? version;
const parts = (version: string): number[] => version.split(/[.\D]+/).map(Number);

/** `0.8.0.dev` and `1.0.0rc1` come before their releases. */
const isBefore = (version: string): number => (/\d\.?(dev|rc|a|b)\d*/.test(version) ? 1 : 0);

/** Below zero where `a` is the older. */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [parts(plain(a)), parts(plain(b))];
  for (let i = 0; i < Math.max(x.length, y.length); i++) {
    const difference = (x[i] ?? 0) - (y[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return isBefore(b) - isBefore(a);
}

/** The same release; else the last one of the same minor release; else the last one that is not newer. */
export function nearestVersion(wanted: string, known: readonly string[]): string {
  if (known.includes(wanted)) return wanted;
  const minor = parts(wanted).slice(0, 2).join(".");
  const alike = known.filter((version) => parts(version).slice(0, 2).join(".") === minor);
  const older = (alike.length > 0 ? alike : known).filter((version) => compareVersions(version, wanted) <= 0);
  return older.at(-1) ?? alike[0] ?? known[0] ?? wanted;
}
