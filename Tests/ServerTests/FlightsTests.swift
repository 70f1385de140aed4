import Testing
import VitrineRuntime
import VitrineTesting

@testable import VitrineServing

@Suite struct FlightsTests {
}
