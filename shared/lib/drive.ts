/**
 * A path with Windows' drive as VS Code writes it, small: shells write it large, and what a run says of its file is compared with
 * what is open in an editor.
 */
export const withDrive = (path: string, platform: NodeJS.Platform = process.platform): string =>
  platform === "win32" ? path.replace(/^[A-Z](?=:[\\/])/, (drive) => drive.toLowerCase()) : path;
