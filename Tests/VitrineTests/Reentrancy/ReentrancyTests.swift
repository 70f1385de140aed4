import Testing
import VitrineTestSupport

/// Every hook with everything that it may do: nothing hangs, every task ends once and in order, nothing is left over,
/// and nobody else waits.
///
/// Each hook is played in a process of its own, one action after the other, since a pipeline that hangs takes the
/// threads of whoever else runs with it.
@Suite(.patient)
struct ReentrancyTests {
  @Test(arguments: CallbackHook.allCases)
  func callbacksMayDoAnything(hook: CallbackHook) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as CallbackHook] in
        await Cell.play(hook)
      }
    }
  }

  @Test(arguments: GroupHook.allCases)
  func prefetchersAndScopesMayCallBackWhatDoesAnything(hook: GroupHook) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as GroupHook] in
        await Cell.play(hook)
      }
    }
  }

  @Test(arguments: RequestHook.allCases)
  func hooksOfARequestMayDoAnything(hook: RequestHook) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as RequestHook] in
        await Cell.play(hook)
      }
    }
  }

  @Test(arguments: ObservingHook.allCases)
  func observersMayDoAnything(hook: ObservingHook) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as ObservingHook] in
        await Cell.play(hook)
      }
    }
  }

  @Test(arguments: CacheHook.allCases)
  func cachesOfBytesMayDoAnything(hook: CacheHook) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as CacheHook] in
        await Cell.play(hook)
      }
    }
  }

  @Test(arguments: WorkHook.allCases)
  func decodersAndLoadersMayDoAnything(hook: WorkHook) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as WorkHook] in
        await Cell.play(hook)
      }
    }
  }

  @Test(arguments: EncodingHook.allCases)
  func encodersMayDoAnything(hook: EncodingHook) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as EncodingHook] in
        await Cell.play(hook)
      }
    }
  }

  @Test(arguments: ClockHook.allCases)
  func clocksMayDoAnything(hook: ClockHook) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as ClockHook] in
        await Cell.play(hook)
      }
    }
  }

  @Test(arguments: MemoryHook.allCases)
  func whatBelongsToMemoryMayDoAnything(hook: MemoryHook) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as MemoryHook] in
        await Cell.play(hook)
      }
    }
  }

  @Test(arguments: DisplayHook.allCases)
  func viewsMayDoAnything(hook: DisplayHook) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as DisplayHook] in
        await Cell.play(hook)
      }
    }
  }

  @Test(arguments: ReleaseHook.allCases)
  func whatIsReleasedMayDoAnything(hook: ReleaseHook) async {
    await Cell.inTurn {
      await #expect(processExitsWith: .success) { [hook = hook as ReleaseHook] in
        await Cell.play(hook)
      }
    }
  }
}
