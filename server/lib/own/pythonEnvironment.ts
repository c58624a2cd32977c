/**
 * Variables of a Python that we start. On Windows it would read and write in the system's code page, in which `print("✓")` throws; on
 * other systems its own UTF-8 mode decides, and what the user has set decides everywhere.
 */
export const pythonEnvironment = (
  given: NodeJS.ProcessEnv = process.env,
  platform = process.platform,
): NodeJS.ProcessEnv => (platform === "win32" ? { PYTHONUTF8: "1", ...given } : given);
