import { fileURLToPath } from "node:url";
import { withDrive } from "./drive.ts";

/** The path of a `file:` address, whoever wrote it (`file:///c%3A/…`, `file:///C:/…`); a path stays one. */
export const pathOfAddress = (address: string, platform: NodeJS.Platform = process.platform): string =>
  withDrive(
    address.startsWith("file:") ? fileURLToPath(address, { windows: platform === "win32" }) : address,
    platform,
  );
