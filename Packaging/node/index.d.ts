import { EventEmitter } from 'node:events';

/** An error of the client or the agent. */
export declare class AldabaError extends Error {
  constructor(code: string | number, message: string, options?: { cause?: unknown });
  /** A stable code. Errors of the notification centre have a number. */
  code: string | number;
}

export type AppState = 'active' | 'inactive' | 'background';
export type DeliveryKind = 'foreground' | 'background' | 'foregroundAndBackground' | 'call';
export type BackgroundResult = 'newData' | 'noData' | 'failed';

export declare const AuthorizationOption: Readonly<{
  badge: 1; sound: 2; alert: 4; carPlay: 8; criticalAlert: 16; providesAppNotificationSettings: 32; provisional: 64;
  announcement: 128; timeSensitive: 256;
}>;
export declare const PresentationOption: Readonly<{ badge: 1; sound: 2; alert: 4; list: 8; banner: 16 }>;
export declare const ActionOption: Readonly<{ authenticationRequired: 1; destructive: 2; foreground: 4 }>;
export declare const CategoryOption: Readonly<{
  customDismissAction: 1; hiddenPreviewsShowTitle: 4; hiddenPreviewsShowSubtitle: 8;
}>;

/** Options by their names, or the sum of their bits. */
export type Options<Table> = keyof Table | readonly (keyof Table)[] | number;
export type AuthorizationOptions = Options<typeof AuthorizationOption>;
export type PresentationOptions = Options<typeof PresentationOption>;
export type ActionOptions = Options<typeof ActionOption>;
export type CategoryOptions = Options<typeof CategoryOption>;

/** The actions that every notification has. */
export declare const Action: Readonly<{
  /** The notification itself was opened. */
  open: 'com.apple.UNNotificationDefaultActionIdentifier';
  /** The notification was dismissed. */
  dismiss: 'com.apple.UNNotificationDismissActionIdentifier';
}>;

/** A button of a notification. */
export interface NotificationAction {
  identifier: string;
  title: string;
  options?: ActionOptions;
  icon?: { name: string; isTemplate?: boolean };
  /** Makes the button ask for a text. */
  textInput?: { buttonTitle?: string; placeholder?: string };
}

/** Descriptions of actions, or an object of identifiers and titles. */
export type NotificationActions = readonly NotificationAction[] | Readonly<Record<string, string>>;

export interface NotificationCategory {
  identifier: string;
  actions?: NotificationActions;
  intentIdentifiers?: string[];
  options?: CategoryOptions;
  hiddenPreviewsBodyPlaceholder?: string;
  categorySummaryFormat?: string;
}

/** A key of the app's string tables. */
export interface Localization {
  key: string;
  arguments?: string[];
}

export interface NotificationSound {
  /** The name of a file; without it the default sound. */
  name?: string;
  isCritical?: boolean;
  /** 0 to 1; of a critical sound only. */
  volume?: number;
}

export interface NotificationAttachment {
  identifier: string;
  /** An absolute path. */
  path: string;
  /** A uniform type identifier, such as `public.png`. */
  type: string;
  hidesThumbnail?: boolean;
  thumbnailClippingRect?: [x: number, y: number, width: number, height: number];
  thumbnailTime?: number;
}

/** The content of a notification. Members that are left out are empty. */
export interface NotificationContent {
  title?: string;
  subtitle?: string;
  body?: string;
  titleLocalization?: Localization;
  subtitleLocalization?: Localization;
  bodyLocalization?: Localization;
  /** The number on the app's icon; 0 removes it. */
  badge?: number;
  /** A sound, the name of one, or `true` for the default one. */
  sound?: NotificationSound | string | boolean | null;
  launchImageName?: string;
  /** The app's own data, or its JSON text. */
  userInfo?: object | string;
  userInfoPropertyList?: string;
  attachments?: NotificationAttachment[];
  categoryIdentifier?: string;
  threadIdentifier?: string;
  targetContentIdentifier?: string;
  interruptionLevel?: 'passive' | 'active' | 'time-sensitive' | 'critical';
  /** 0 to 1. */
  relevanceScore?: number;
  filterCriteria?: string;
  /** Buttons in place of those of the category. */
  actions?: NotificationActions;
  openTitle?: Localization;
  /** From 0 to 1, for desktops that show one. */
  progress?: number;
}

/** Fields of a calendar, as `DateComponents` has them. */
export interface DateComponents {
  era?: number;
  year?: number;
  quarter?: number;
  month?: number;
  weekOfYear?: number;
  weekOfMonth?: number;
  yearForWeekOfYear?: number;
  weekday?: number;
  weekdayOrdinal?: number;
  day?: number;
  hour?: number;
  minute?: number;
  second?: number;
  nanosecond?: number;
  isLeapMonth?: boolean;
  timeZone?: { identifier: string };
  calendar?: object;
}

/** A circle on the earth. */
export interface Region {
  identifier: string;
  /** Degrees north of the equator. */
  latitude: number;
  /** Degrees east of Greenwich. */
  longitude: number;
  /** Metres from the centre to the edge. */
  radius: number;
  /** Whether entering the circle fires; `true` where it is left out. */
  onEntry?: boolean;
  /** Whether leaving the circle fires; `false` where it is left out. */
  onExit?: boolean;
}

export type NotificationTrigger =
  | { type: 'timeInterval'; seconds: number; repeats: boolean }
  | { type: 'calendar'; components: DateComponents; repeats: boolean }
  | { type: 'region'; region: Region; repeats: boolean };

/** The triggers of notifications. */
export declare const Trigger: Readonly<{
  /** Fires so many seconds after it was asked for. */
  timeInterval(seconds: number, options?: { repeats?: boolean }): NotificationTrigger;
  /** Fires when these fields of the calendar match. */
  calendar(components: DateComponents, options?: { repeats?: boolean }): NotificationTrigger;
  /** Fires once at a date, to the second. */
  at(date: Date): NotificationTrigger;
  /** Fires when a circle on the earth is entered or left. */
  region(region: Region, options?: { repeats?: boolean }): NotificationTrigger;
}>;

interface RequestMembers {
  /** A later notification with the same identifier replaces an earlier one. Without it a random one is used. */
  identifier?: string;
  /** Without a trigger the notification is shown at once. */
  trigger?: NotificationTrigger | null;
}

/** A notification to show: its content is among its members, or in `content`. */
export type NotificationDraft =
  | (RequestMembers & NotificationContent & { content?: undefined })
  | (RequestMembers & { content: NotificationContent });

/** A request as the agent returns it. Members with their plain value are left out. */
export interface NotificationRequest {
  identifier: string;
  content: NotificationContent & { userInfo?: string };
  trigger?: NotificationTrigger;
}

/** A notification that the agent delivered. */
export declare class DeliveredNotification {
  constructor(wire: object);
  /** The id, which has 64 bits, as a text of digits. A local notification's begins with `-`. */
  readonly id: string;
  /** The request's identifier: the collapse id of a push, else its `apns-id`. */
  readonly identifier: string;
  /** The `apns-id` of a push. */
  readonly apnsID?: string;
  readonly topic: string;
  /** The time at which it was accepted, in milliseconds since 1970. */
  readonly date: number;
  /** The payload's JSON text; `{}` for a local notification. */
  readonly payload: string;
  /** The content where the payload does not contain all of it. */
  readonly content?: NotificationContent & { userInfo?: string };
  readonly trigger?: NotificationTrigger;
  /** Whether it came from a provider. */
  readonly isRemote: boolean;
  /** The payload of a push; the `userInfo` of a local notification. */
  readonly userInfo: Record<string, any>;
  readonly title: string;
  readonly subtitle: string;
  readonly body: string;
}

/** A person's answer to a notification. */
export declare class NotificationResponse {
  constructor(wire: object);
  /** The id, which has 64 bits, as a text of digits. */
  readonly id: string;
  /** The identifier of the action that was chosen: the app's own, `Action.open` or `Action.dismiss`. */
  readonly action: string;
  readonly notification: DeliveredNotification;
  /** The text that the person wrote, where the action asks for one. */
  readonly userText?: string;
  readonly isOpening: boolean;
  readonly isDismissal: boolean;
}

/**
 * The answer of `onNotification`. In the foreground nothing and `true` show the notification with banner, list and
 * sound, and `false` and `null` do not show it. In the background nothing means `newData`.
 */
export type Outcome =
  | void | undefined | null | boolean | number | readonly (keyof typeof PresentationOption)[] | BackgroundResult
  | { outcome: 'presented'; options?: PresentationOptions }
  | { outcome: 'notPresented' }
  | { outcome: 'background'; result: BackgroundResult };

type Awaitable<Value> = Value | Promise<Value>;

/** The options of a client. */
export interface ClientOptions {
  /** The app's id; without it that of the variable `ALDABA_APP_ID`. */
  app?: string;
  /** The app's secret, where its manifest has `provesBySecret`. Space around it is removed. */
  secret?: string | { toString(): string } | null;
  /**
   * The path of the agent's socket. Without it `ALDABA_AGENT_SOCKET`, else `aldaba/agent.sock` in `XDG_RUNTIME_DIR`,
   * `XDG_STATE_HOME` or `~/.local/state`.
   */
  socket?: string;
  /** A name of this run, by which a repeated `add` is done once: a random one by default, none with `null`. */
  run?: string | null;
  role?: 'app' | 'serviceExtension';
  /** The milliseconds that a handler has; 30,000 where it is left out. */
  handlerTimeout?: number;
  /** A notification for the app. Its answer says how it is shown. */
  onNotification?(notification: DeliveredNotification, kind: DeliveryKind): Awaitable<Outcome>;
  /** A person's answer to a notification. */
  onResponse?(response: NotificationResponse): Awaitable<unknown>;
  /** A data message of the direct channel. */
  onMessage?(notification: DeliveredNotification): Awaitable<unknown>;
  /** Notifications were deleted on the server before they came. */
  onMessagesDeleted?(deletion: { count: number; since: number }): Awaitable<unknown>;
  /** The end of a message that the app sent: with `code` it failed. */
  onUpstreamEnded?(end: { id: string; code?: string }): Awaitable<unknown>;
  /** A service extension's notification to change. `signal` is aborted when the time is almost over. */
  onExtend?(
    notification: DeliveredNotification, context: { signal: AbortSignal },
  ): Awaitable<void | undefined | null | { content?: NotificationContent }>;
  /** The time of a service extension for the notification of this id is almost over. */
  onExpire?(id: string): Awaitable<unknown>;
}

/** The welcome of the agent. */
export interface Welcome {
  state: AppState;
  /** 0 not determined, 1 denied, 2 authorized, 3 provisional, 4 ephemeral. */
  authorization: number;
  /** The notification whose opening started the app. */
  launchNotification?: DeliveredNotification;
}

/** The settings of the app, as `UNNotificationSettings` has them: 0 not supported, 1 disabled, 2 enabled. */
export interface NotificationSettings {
  authorizationStatus: number;
  alertSetting: number;
  soundSetting: number;
  badgeSetting: number;
  notificationCenterSetting: number;
  criticalAlertSetting?: number;
  timeSensitiveSetting?: number;
  /** 0 none, 1 banner, 2 alert. */
  alertStyle: number;
  /** 0 always, 1 while the screen is not locked, 2 never. */
  showPreviewsSetting?: number;
  lockScreenSetting?: number;
  providesAppNotificationSettings?: boolean;
}

/** A notification that asks the person. */
export type Question = RequestMembers & Omit<NotificationContent, 'actions' | 'categoryIdentifier'> & {
  actions?: NotificationActions;
  /** Adds a button that asks for a text: `true`, its title, or its description. */
  reply?: boolean | string | { identifier?: string; title?: string; placeholder?: string; buttonTitle?: string };
  /** Ends the question: the notification is removed. */
  signal?: AbortSignal;
};

/** The content of a Live Activity, which updates replace. */
export interface ActivityContent {
  /** The app's own data: a JSON value. */
  state: any;
  /** When it is out of date, in milliseconds since 1970. */
  staleDate?: number;
  /** The rank among the app's activities. */
  relevanceScore: number;
}

/** A Live Activity as the agent has it. */
export interface Activity {
  id: string;
  attributesType: string;
  attributes: any;
  content: ActivityContent;
  state: 'active' | 'stale' | 'ended' | 'dismissed';
  /** The token for pushes to it, in hexadecimal digits; absent where it has none yet, or gets none. */
  pushToken?: string;
}

/** The content of a Live Activity, of which all but the state may be left out. */
export type ActivityContentDraft = { state: any; staleDate?: number | Date; relevanceScore?: number };

export interface ClientEvents {
  activity: [activity: Activity];
  startToken: [token: string];
  connected: [welcome: Welcome];
  disconnected: [reason: AldabaError];
  closed: [reason: AldabaError];
  token: [token: string];
  state: [state: AppState];
  openSettings: [notification: DeliveredNotification | undefined];
  channelState: [isConnected: boolean];
  error: [error: Error];
}

/** A client of the agent: one app, or its service extension. */
export declare class NotificationClient extends EventEmitter {
  constructor(options?: ClientOptions);
  /** Whether a connection is open and welcomed. */
  readonly connected: boolean;
  /** The device token; `null` while there is none. */
  readonly token: string | null;
  /** The app's state; `null` before the first connection. */
  readonly state: AppState | null;
  /** The ids that the app has handled and the agent has not confirmed. */
  readonly unconfirmed: string[];

  /** Connects. Later the client connects again by itself. With `waitsForAgent` it waits for an agent to start. */
  connect(options?: { waitsForAgent?: boolean }): Promise<Welcome>;
  /** Ends the connection, and rejects what has no answer. */
  close(): Promise<void>;
  /** Lets the process end although the client is connected. */
  unref(): this;
  /** Reverses `unref`. */
  ref(): this;

  /** Asks the person for permission, once. */
  requestAuthorization(options?: AuthorizationOptions): Promise<{ granted: boolean; reason?: string }>;
  /** Returns what the app may do. */
  settings(): Promise<NotificationSettings>;
  /** Returns the device token. */
  register(): Promise<string>;
  /** Ends the device token. */
  unregister(): Promise<void>;

  /** Shows a notification, at once or when its trigger says. Returns its identifier. */
  add(notification: NotificationDraft): Promise<string>;
  /** Shows a notification, and resolves with the person's answer. */
  notify(question: Question): Promise<NotificationResponse>;
  /** Returns the requests that have not fired. */
  pending(): Promise<NotificationRequest[]>;
  /** Removes requests that have not fired: those of the identifiers, or all. */
  removePending(identifiers?: readonly string[]): Promise<void>;
  /** Returns the notifications in the list. */
  delivered(): Promise<DeliveredNotification[]>;
  /** Removes notifications from the list: those of the identifiers, or all. */
  removeDelivered(identifiers?: readonly string[]): Promise<void>;
  /** Adds categories; those of the same identifier are replaced. An empty array removes all. */
  setCategories(categories: readonly NotificationCategory[]): Promise<void>;
  /** Returns the app's categories. */
  categories(): Promise<NotificationCategory[]>;
  /** Sets the number on the app's icon; 0 removes it. */
  setBadge(badge: number): Promise<void>;
  /** Returns the number on the app's icon. */
  badge(): Promise<number>;

  /** Has an address opened, or with `isTrial` examined. */
  openURL(
    url: string | URL, options?: { isTrial?: boolean },
  ): Promise<{ outcome: 'opened' | 'own' | 'refused'; message?: string }>;
  /** Has the agent fetch a file for this service extension. Returns its path. */
  fetch(url: string | URL, options?: { typeHint?: string; spread?: number }): Promise<string>;
  /** Reports the app's own state to the agent. */
  setState(state: AppState): void;

  /** Lets data messages come. */
  openChannel(): void;
  /** Lets no data message come any more. */
  closeChannel(): void;
  /** Sends a message to the app's provider. Returns its id. */
  send(message: { to: string; data?: Record<string, string>; id?: string; timeToLive?: number }): Promise<string>;
  /** Has the agent tell of the app's Live Activities: the events `activity` and `startToken`. */
  observeActivities(): void;
  /** Starts a Live Activity. Returns its id, which has 32 hexadecimal digits. */
  startActivity(activity: {
    attributesType: string; attributes: object; content: ActivityContentDraft; id?: string;
    pushes?: 'none' | 'token' | `channel:${string}`;
  }): Promise<string>;
  /** Replaces the content of a Live Activity; with an alert it draws attention. */
  updateActivity(id: string, content: ActivityContentDraft, options?: {
    alert?: { title?: string; body?: string; sound?: NotificationSound | string | boolean | null };
  }): Promise<void>;
  /** Ends a Live Activity. It leaves the screen four hours later, at once, or at a date. */
  endActivity(id: string, options?: {
    content?: ActivityContentDraft; dismissal?: 'standard' | 'immediate' | number | Date;
  }): Promise<void>;
  /** Has the app join a topic. */
  subscribe(topic: string): Promise<void>;
  /** Has the app leave a topic. */
  unsubscribe(topic: string): Promise<void>;

  on<Name extends keyof ClientEvents>(event: Name, listener: (...values: ClientEvents[Name]) => void): this;
  on(event: string | symbol, listener: (...values: any[]) => void): this;
  once<Name extends keyof ClientEvents>(event: Name, listener: (...values: ClientEvents[Name]) => void): this;
  once(event: string | symbol, listener: (...values: any[]) => void): this;
  off<Name extends keyof ClientEvents>(event: Name, listener: (...values: ClientEvents[Name]) => void): this;
  off(event: string | symbol, listener: (...values: any[]) => void): this;
}

/** JSON whose integers keep all their digits: those that a double does not hold are of type `bigint`. */
export declare const ExactJSON: Readonly<{
  parse(text: string): any;
  stringify(value: unknown): string;
}>;
