/** The ways to tell the person, as the options name them: their own command, their own webhook, both or none. */
import { stat } from 'node:fs/promises'
import type { NotifyOptions } from '../app/tell-person.ts'
import { systemClock } from '../async/clock-system.ts'
import { AppError } from '../domain/errors.ts'
import { readPrivateFile } from '../home/private-file.ts'
import type { Channel } from '../notify/channel.ts'
import { createCommandChannel } from '../notify/command-channel.ts'
import { checkWebhookUrl, createWebhookChannel } from '../notify/webhook-channel.ts'
import type { ServerConfig } from './server-config.ts'

const secretBytesMax = 8 * 1024

/** Errors: BAD_REQUEST for a URL that may not be called. */
export function createNotifyOptions({ options, env, layout }: ServerConfig): NotifyOptions {
  const argv = options['notify.command']
  const url = options['notify.url']
  const channels: Channel[] = []
  if (argv !== undefined) channels.push(createCommandChannel({ clock: systemClock, argv, cwd: layout.home, env }))
  if (url !== undefined) channels.push(openWebhook(url, options['notify.secret_file']))
  return {
    channels,
    rules: {
      kinds: new Set(options['notify.kinds']),
      quiet: options['notify.quiet'],
      batchMs: options['notify.batch_s'] * 1_000,
    },
  }
}

function openWebhook(text: string, secretFile: string | undefined): Channel {
  const checked = checkWebhookUrl(text)
  // The URL itself may be a secret.
  if ('why' in checked) throw new AppError('BAD_REQUEST', `notify.url is not called: ${checked.why}`)
  const readSecret = secretFile === undefined ? undefined : () => loadSecret(secretFile)
  return createWebhookChannel({ clock: systemClock, url: checked.url.href, readSecret })
}

/** Errors: BAD_REQUEST for a file that is not there, or not private. */
async function loadSecret(path: string): Promise<string> {
  const text = (await readPrivateFile(path, secretBytesMax))?.trim()
  if (text === undefined || text === '') throw new AppError('BAD_REQUEST', `there is no secret in ${path}`)
  if (((await stat(path)).mode & 0o077) !== 0) {
    throw new AppError('BAD_REQUEST', `others may read ${path}; "chmod 600" makes it private`)
  }
  if (!/^[\x21-\x7e]+$/.test(text)) throw new AppError('BAD_REQUEST', `the secret in ${path} is not one plain word`)
  return text
}
