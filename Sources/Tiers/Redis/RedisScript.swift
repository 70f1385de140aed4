import VitrineRuntime

/// A script that a server runs atomically.
///
/// The client sends its digest. If the server does not know the script, as after a restart, the client sends the text.
struct RedisScript: Sendable {
  let text: String
  /// The SHA-1 of the text in hexadecimal digits, which a test compares with the server's.
  let digest: String

  /// The script that replaces a head, if it is still the one that was read, and extends the lifetime of its body.
  static let replaceHead = RedisScript(
    text: """
      if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
      redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
      redis.call('PEXPIRE', KEYS[2], ARGV[3])
      redis.call('PEXPIRE', KEYS[3], ARGV[4])
      return 1
      """,
    digest: "7e72a2385497b937bac751ad3dedc5c1f9e70ff5",
  )

  /// The script that deletes keys, if the first still has a value.
  static let deleteIfEqual = RedisScript(
    text: """
      if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
      return redis.call('UNLINK', unpack(KEYS))
      """,
    digest: "58fbde38d161d7a55b2c193b94eb27b979e45b35",
  )

  /// The script that ends a lease, if it is unchanged, or replaces it by a value for some time.
  static let endLease = RedisScript(
    text: """
      if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
      redis.call('SREM', KEYS[2], ARGV[2])
      if not ARGV[3] then return redis.call('UNLINK', KEYS[1]) end
      redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
      return 1
      """,
    digest: "8edfb11a10b8633273f8f3d60943a8df80244cdf",
  )

  /// The script that extends the lifetime of a value, if it is unchanged.
  static let extendIfEqual = RedisScript(
    text: """
      if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
      return redis.call('PEXPIRE', KEYS[1], ARGV[2])
      """,
    digest: "2deae1ef2395a47a688aa388ceff88bd1c320ba4",
  )

  /// The script that deletes the entries of an index whose keys extend a key, and stores the time of the removal.
  ///
  /// A full server refuses to store the time, but still deletes the entries.
  static let removeExtensions = RedisScript(
    text: """
      local removed = 0
      for _, key in ipairs(redis.call('SMEMBERS', KEYS[1])) do
        if #key > #ARGV[1] and string.sub(key, 1, #ARGV[1]) == ARGV[1] then
          redis.call('SREM', KEYS[1], key)
          redis.call('UNLINK', ARGV[2] .. key, ARGV[3] .. key)
          removed = removed + 1
        end
      end
      redis.pcall('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
      return removed
      """,
    digest: "d89b25142b98de5d373d7c4436999751f1606b57",
  )

  /// The script that stores an entry, unless it is older than the existing one or than a removal, and returns the
  /// number of entries of the source.
  ///
  /// A late write, as from a server that was paused, must not undo later changes. Times that are ahead of the writer's
  /// clock by more than a minute do not count. The time of an entry is in its head, at byte 44. An existing entry from
  /// before a removal is deleted: this write may have replaced the removal of that entry in the queue.
  static let storeEntry = RedisScript(
    text: """
      local has, old = 0, redis.call('GET', KEYS[1])
      if old and #old > 52 then has = struct.unpack('<d', old, 45) end
      for index = 4, 5 do
        local time = tonumber(redis.call('GET', KEYS[index]) or '0')
        if time > tonumber(ARGV[6]) and time < tonumber(ARGV[7]) then
          if has < time then
            redis.call('UNLINK', KEYS[1], KEYS[2])
            redis.call('SREM', KEYS[3], ARGV[4])
          end
          return 0
        end
      end
      if has > tonumber(ARGV[6]) and has < tonumber(ARGV[7]) then return 0 end
      redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
      redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
      redis.call('SADD', KEYS[3], ARGV[4])
      redis.call('PEXPIRE', KEYS[3], ARGV[5])
      return redis.call('SCARD', KEYS[3])
      """,
    digest: "c308136e56db61cd4031d26a908b82bf8c1ebd15",
  )

  /// The script that ends the leases of a source for a key and for keys that extend it.
  static let revokeExtensions = RedisScript(
    text: """
      local count = 0
      for _, key in ipairs(redis.call('SMEMBERS', KEYS[1])) do
        if string.sub(key, 1, #ARGV[1]) == ARGV[1] then
          redis.call('SREM', KEYS[1], key)
          count = count + redis.call('UNLINK', ARGV[2] .. key)
        end
      end
      return count
      """,
    digest: "ec81ecfc85a5fd98944e7815863920aa95c667aa",
  )

  static let all = [
    replaceHead, deleteIfEqual, endLease, extendIfEqual, removeExtensions, storeEntry, revokeExtensions,
  ]

  func command(keys: [Data], arguments: [Data]) -> RedisCommand {
    RedisCommand("EVALSHA", [Data(digest), Data(number: keys.count)] + keys + arguments)
  }

  func commandWithText(keys: [Data], arguments: [Data]) -> RedisCommand {
    RedisCommand("EVAL", [Data(text), Data(number: keys.count)] + keys + arguments)
  }
}
