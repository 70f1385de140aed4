import Testing
import VitrineTesting

/// Every hook with everything that it may do: nothing hangs, every task ends once and in order, nothing is left over,
/// and nobody else waits.
///
/// Each cell is played in a process of its own, since a pipeline that hangs takes the threads of whoever else runs with
/// it.
@Suite(.timeLimit(.minutes(20)))
struct ReentrancyTests {
  @Test(arguments: CallbackHook.allCases, Action.allCases)
  func callbacksMayDoAnything(hook: CallbackHook, action: Action) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as CallbackHook, action = action as Action] in
        await Cell.play(hook, action)
      }
    }
  }

  @Test(arguments: GroupHook.allCases, Action.allCases)
  func prefetchersAndScopesMayCallBackWhatDoesAnything(hook: GroupHook, action: Action) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as GroupHook, action = action as Action] in
        await Cell.play(hook, action)
      }
    }
  }

  @Test(arguments: RequestHook.allCases, Action.allCases)
  func hooksOfARequestMayDoAnything(hook: RequestHook, action: Action) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as RequestHook, action = action as Action] in
        await Cell.play(hook, action)
      }
    }
  }

  @Test(arguments: ObservingHook.allCases, Action.allCases)
  func observersMayDoAnything(hook: ObservingHook, action: Action) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as ObservingHook, action = action as Action] in
        await Cell.play(hook, action)
      }
    }
  }

  @Test(arguments: CacheHook.allCases, Action.allCases)
  func cachesOfBytesMayDoAnything(hook: CacheHook, action: Action) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as CacheHook, action = action as Action] in
        await Cell.play(hook, action)
      }
    }
  }

  @Test(arguments: WorkHook.allCases, Action.allCases)
  func decodersAndLoadersMayDoAnything(hook: WorkHook, action: Action) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as WorkHook, action = action as Action] in
        await Cell.play(hook, action)
      }
    }
  }

  @Test(arguments: EncodingHook.allCases, Action.allCases)
  func encodersMayDoAnything(hook: EncodingHook, action: Action) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as EncodingHook, action = action as Action] in
        await Cell.play(hook, action)
      }
    }
  }

  @Test(arguments: ClockHook.allCases, Action.allCases)
  func clocksMayDoAnything(hook: ClockHook, action: Action) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as ClockHook, action = action as Action] in
        await Cell.play(hook, action)
      }
    }
  }

  @Test(arguments: MemoryHook.allCases, Action.allCases)
  func whatBelongsToMemoryMayDoAnything(hook: MemoryHook, action: Action) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as MemoryHook, action = action as Action] in
        await Cell.play(hook, action)
      }
    }
  }

  @Test(arguments: DisplayHook.allCases, Action.allCases)
  func viewsMayDoAnything(hook: DisplayHook, action: Action) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as DisplayHook, action = action as Action] in
        await Cell.play(hook, action)
      }
    }
  }

  @Test(arguments: ReleaseHook.allCases, Action.allCases)
  func whatIsReleasedMayDoAnything(hook: ReleaseHook, action: Action) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as ReleaseHook, action = action as Action] in
        await Cell.play(hook, action)
      }
    }
  }
}
