/** Node's permissions: a seat belt around the process, and no defence by themselves. */

const permission = ["--permission", "--experimental-permission"].find((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag),
);

/** Node's own: reading of these files, and nothing else. */
export const permissions = (visible: readonly string[]): readonly string[] =>
  permission === undefined ? [] : [permission, ...visible.map((path) => `--allow-fs-read=${path}`)];
