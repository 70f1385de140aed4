// The settings of the program around the server.
extension Setting {
  static let program: [Setting] = [
    custom("LOG", "Whether each request is logged, as a line of JSON on standard output.") {
      (settings, value) throws(ConfigurationError) in
      settings.logs = try SettingValues.flag(value)
    } show: {
      SettingValues.text($0.logs)
    },
    custom("DRAIN_TIMEOUT", "The time for which requests may go on after SIGTERM.") {
      (settings, value) throws(ConfigurationError) in
      settings.drainTime = try SettingValues.duration(value)
    } show: {
      SettingValues.text($0.drainTime)
    },
    custom("DRAIN_DELAY", "The time after SIGTERM for which requests are still taken, while /ready answers 503.") {
      (settings, value) throws(ConfigurationError) in
      settings.drainDelay = try SettingValues.duration(value)
    } show: {
      SettingValues.text($0.drainDelay)
    },
    custom("ALLOW_ROOT", "Whether the program may run as root.") {
      (settings, value) throws(ConfigurationError) in
      settings.allowsRoot = try SettingValues.flag(value)
    } show: {
      SettingValues.text($0.allowsRoot)
    },
  ]
}
